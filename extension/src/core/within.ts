/** What work gives, if it takes at most limit ms; otherwise this throws the error that late makes. */
export async function withTimeout<T>(work: PromiseLike<T>, limit: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limit);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
