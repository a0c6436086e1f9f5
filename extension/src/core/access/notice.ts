// What a command shows to the user while its client waits.

/** The longest time that a notice is shown, in seconds. */
export const longest = 3_600;

/** Shows a notice until the user settles it, the time is over, or the signal is aborted, which is an error. */
export async function untilSettled(
  seconds: number,
  signal: AbortSignal,
  show: (end: AbortSignal) => Promise<void>,
): Promise<"settled" | "timeout"> {
  signal.throwIfAborted();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), Math.min(seconds, longest) * 1_000);
  });
  const settled = show(AbortSignal.any([signal, closing.signal])).then(() => "settled" as const);
  const abort = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([timeout, settled, abort]);
  } finally {
    clearTimeout(timer);
    closing.abort();
  }
}
