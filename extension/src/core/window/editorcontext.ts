// Which file and selection the user has open, for the window's state. Never the file's contents.
import type { Editor } from "../protocol/protocol.generated";
import type { Store } from "./store";

/** How long changes are gathered, in ms: a moving cursor must not flood the clients. */
const gatherFor = 100;

export class EditorContext {
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `read` returns the present context, if any; it is not called while no client is connected. */
  constructor(
    private readonly store: Store,
    private readonly read: () => Editor | undefined,
    private readonly hasClients: () => boolean,
  ) {}

  /** Something may have changed: it is published with what else changes within a short while. */
  changed(): void {
    if (this.#closed || !this.hasClients()) return;
    this.#timer ??= setTimeout(() => this.now(), gatherFor);
  }

  /** A client may have connected, which must not get an old context. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#closed && this.hasClients()) this.store.set({ editor: this.read() });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
