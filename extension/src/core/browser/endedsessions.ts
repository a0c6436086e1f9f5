// Which debug sessions are over.
//
// The editor cannot list its sessions; those that began before us come to light when one is made active. But
// it may make one active that it has ended, most likely of two that run together, and js-debug may start a page
// of a session that was stopped meanwhile. Both are ignored: they would never end.

import { keepNewest } from "../newest";

/** The editor makes active only what ended lately. */
const limit = 1_000;

export interface Session {
  id: string;
  parent?: Session | undefined;
}

export class EndedSessions {
  readonly #ids = new Set<string>();

  /** A restart uses the id of the ended session again. */
  started(id: string): void {
    this.#ids.delete(id);
  }

  ended(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    keepNewest(this.#ids, limit);
  }

  /** Whether the session is over, or one that it is part of. */
  has(session: Session | undefined): boolean {
    return session !== undefined && (this.#ids.has(session.id) || this.has(session.parent));
  }
}
