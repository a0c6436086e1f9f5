// The window's state and the events of its changes.
// Obeys specs/window-protocol/README.md sections 5 (listen) and 8.
import { isDeepStrictEqual } from "node:util";
import { type Log, silent } from "../log";
import { listLimit, stateLimit } from "../protocol/framing";
import type { Editor, State } from "../protocol/protocol.generated";

/** A numbered event. */
export interface Numbered {
  type: "state";
  seq: number;
  payload: State;
}

export class Store {
  #state: State = {
    revision: 0,
    debugSessions: [],
    browser: null,
    pages: [],
    access: { mode: "view", stopped: [] }, // until the user's choice is read
  };
  #seq = 0;
  readonly #listeners = new Set<(event: Numbered) => void>();

  constructor(private readonly log: Log = silent) {}

  get state(): State {
    return this.#state;
  }

  /** The number of the newest event; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  /**
   * Changes members of the state; one event when they differ, none when they do not. Of too many debug
   * sessions or pages the newest are sent. A state that is too large cannot be: the one before stays.
   */
  set(
    changes: Partial<Omit<State, "revision" | "editor" | "notes" | "tests">> & {
      editor?: Editor | undefined;
      notes?: string[];
      tests?: string[];
    },
  ): void {
    const { editor, notes = [], tests = [], ...others } = { ...this.#state, ...structuredClone(changes) };
    const next: State = {
      ...others,
      debugSessions: others.debugSessions.slice(-listLimit),
      pages: others.pages.slice(-listLimit),
      ...(editor && { editor }),
      ...(notes.length > 0 && { notes: notes.slice(-listLimit) as [string, ...string[]] }),
      ...(tests.length > 0 && { tests: tests.slice(-listLimit) as [string, ...string[]] }),
    };
    if (isDeepStrictEqual(this.#state, next)) return;
    const event: Numbered = {
      type: "state",
      seq: this.#seq + 1,
      payload: { ...next, revision: next.revision + 1 },
    };
    const bytes = Buffer.byteLength(JSON.stringify(event)) + 1; // with the line's end
    if (bytes > stateLimit) {
      this.log.error(
        `the window's state stays as it was: it would have ${bytes} bytes, over the limit of ${stateLimit}`,
      );
      return;
    }
    this.#state = event.payload;
    this.#seq = event.seq;
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls listener at each event until the returned function is called. */
  subscribe(listener: (event: Numbered) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The state of a window, where it is only read. */
export type States = Pick<Store, "state"> & { subscribe(listener: () => void): () => void };
