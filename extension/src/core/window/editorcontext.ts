// What the human looks at, told in the window's state. Never what stands there.
import type { Editor } from "../protocol/protocol.generated";
import type { Store } from "./store";

/** How long changes are gathered, in ms: whoever moves a cursor does not flood the clients. */
const gatherFor = 100;

export class EditorContext {
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `read` gives what there is to tell now, if anything; nobody asks for it while nobody is `there` to hear it. */
  constructor(
    private readonly store: Store,
    private readonly read: () => Editor | undefined,
    private readonly there: () => boolean,
  ) {}

  /** Something may have changed: it is told with what else changes within a short while. */
  changed(): void {
    if (this.#closed || !this.there()) return;
    this.#timer ??= setTimeout(() => this.now(), gatherFor);
  }

  /** Somebody may have come, who is told nothing old. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#closed && this.there()) this.store.set({ editor: this.read() });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
