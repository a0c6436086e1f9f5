/** Runs work once the signal is aborted, also if it was before: that is no event. Returns what stops waiting for it. */
export function whenAborted(signal: AbortSignal, work: () => void): () => void {
  if (signal.aborted) work();
  else signal.addEventListener("abort", work, { once: true });
  return () => signal.removeEventListener("abort", work);
}
