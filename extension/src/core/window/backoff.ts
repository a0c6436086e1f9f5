// The reconnect delays of specs/window-protocol/README.md section 9: 1, 2, 4, 8, 16, then 30 s, each up to
// 20 % shorter or longer.
const first = 1_000;
const longest = 30_000;
const jitter = 0.2;

export class Backoff {
  #tries = 0;

  /** How long to wait now, in milliseconds. */
  next(): number {
    const pause = Math.min(first * 2 ** this.#tries, longest);
    this.#tries += 1;
    return pause * (1 - jitter + 2 * jitter * Math.random());
  }

  /** Starts again with the shortest. */
  reset(): void {
    this.#tries = 0;
  }
}
