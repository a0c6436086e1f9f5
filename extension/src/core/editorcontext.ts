// What the human looks at, told in the window's state. Never what stands there.
import type { Editor } from "./protocol.generated";
import type { Store } from "./store";

/** How long changes are gathered, in ms: whoever moves a cursor does not flood the clients. */
const gatherFor = 100;

export class EditorContext {
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();
  #closed = false;

  /** `read` gives what there is to tell now, if anything. */
  constructor(
    private readonly store: Store,
    private readonly read: () => Promise<Editor | undefined>,
  ) {}

  /** Something may have changed: it is told with what else changes within a short while. */
  changed(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#reading = this.#reading.then(() => this.#tell());
    }, gatherFor);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #tell(): Promise<void> {
    const editor = await this.read().catch(() => undefined); // what cannot be read is not told
    if (!this.#closed) this.store.set({ editor });
  }
}
