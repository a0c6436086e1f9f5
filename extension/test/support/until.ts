/** Waits until what the source reports fits. */
export function until(source: { subscribe(listener: () => void): () => void }, fits: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!fits()) return;
      stop();
      resolve();
    };
    const stop = source.subscribe(check);
    check();
  });
}
