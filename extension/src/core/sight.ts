// Which questions the user can answer: those that have been in sight for a moment. A click or a key that comes
// sooner was meant for what was there before. All questions of the window go by this.

/** In ms. */
export const pause = 500;

/** What is in sight, and since when. */
export class Sight<T> {
  #since = new Map<T, number>();

  /** These are in sight now, and nothing else. */
  show(...all: readonly T[]): void {
    const now = performance.now();
    this.#since = new Map(all.map((each) => [each, this.#since.get(each) ?? now]));
  }

  /** Whether the user can have read it. */
  isReadable(one: T): boolean {
    const start = this.#since.get(one);
    return start !== undefined && performance.now() - start >= pause;
  }
}
