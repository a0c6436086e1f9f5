// The window's state and the events that told of its changes.
// Obeys specs/window-protocol/README.md sections 5 (listen) and 8.
import { isDeepStrictEqual } from "node:util";
import type { Editor, State } from "./protocol.generated";

/** A numbered event, ready to be sent again. */
export interface Numbered {
  type: "state";
  seq: number;
  payload: State;
}

export const replayLimit = 256;
const replayBytes = 4 * 1024 * 1024;

export class Store {
  #state: State = {
    revision: 0,
    debugSessions: [],
    browser: null,
    pages: [],
    access: { mode: "full", stopped: [] },
  };
  #seq = 0;
  #kept: { event: Numbered; bytes: number }[] = [];
  #keptBytes = 0;
  readonly #listeners = new Set<(event: Numbered) => void>();

  get state(): State {
    return this.#state;
  }

  /** The number of the newest event; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  /** Changes members of the state; one event when they differ, none when they do not. */
  set(changes: Partial<Omit<State, "revision" | "editor">> & { editor?: Editor | undefined }): void {
    const { editor, ...others } = { ...this.#state, ...structuredClone(changes) };
    const next: State = { ...others, ...(editor && { editor }) };
    if (isDeepStrictEqual(this.#state, next)) return;
    this.#state = { ...next, revision: next.revision + 1 };
    this.#seq += 1;
    const event: Numbered = { type: "state", seq: this.#seq, payload: this.#state };
    this.#keep(event);
    for (const listener of this.#listeners) listener(event);
  }

  #keep(event: Numbered): void {
    const bytes = Buffer.byteLength(JSON.stringify(event));
    this.#kept.push({ event, bytes });
    this.#keptBytes += bytes;
    while (this.#kept.length > replayLimit || this.#keptBytes > replayBytes) {
      this.#keptBytes -= this.#kept.shift()?.bytes ?? 0;
    }
  }

  /** The events after seq, or undefined when some of them are gone or have not been. */
  since(seq: number): Numbered[] | undefined {
    const missed = this.#seq - seq;
    if (missed < 0 || missed > this.#kept.length) return undefined;
    return this.#kept.slice(this.#kept.length - missed).map(({ event }) => event);
  }

  /** Calls listener at each event until the returned function is called. */
  subscribe(listener: (event: Numbered) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
