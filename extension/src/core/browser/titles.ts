// Reports when a page's title may have changed, for lists of pages.
//
// The browser reports a page before it has read its title, and has no event for a title. So each page gets a
// own session, which reports when it has loaded and when something changes in its head. No script runs
// in the page, and of its body only direct children are reported.
import type { Cdp, Members } from "./cdp";

const changes = [
  "Page.domContentEventFired",
  "Page.loadEventFired",
  "Page.navigatedWithinDocument",
  "DOM.documentUpdated",
  "DOM.childNodeInserted",
  "DOM.childNodeRemoved",
  "DOM.childNodeCountUpdated",
  "DOM.characterDataModified",
];

interface Followed {
  targetId: string;
  reading: boolean;
  /** It has changed since the last read began. */
  changed: boolean;
}

export class Titles {
  readonly #cdp: Cdp;
  readonly #report: (info: Members) => void;
  /** By their sessions. */
  readonly #pages = new Map<string, Followed>();

  /** Calls report with a page's target info whenever its title may have changed. It ends with the connection. */
  constructor(cdp: Cdp, report: (info: Members) => void) {
    this.#cdp = cdp;
    this.#report = report;
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => this.#pages.delete(String(sessionId)));
    for (const event of changes) cdp.on(event, (_, session = "") => void this.#read(session));
  }

  async follow(targetId: string): Promise<void> {
    try {
      const { sessionId } = await this.#cdp.call("Target.attachToTarget", { targetId, flatten: true });
      const session = String(sessionId);
      this.#pages.set(session, { targetId, reading: false, changed: false });
      for (const enable of ["Page.enable", "DOM.enable"]) await this.#cdp.call(enable, {}, session);
      await this.#read(session);
    } catch {} // it has gone
  }

  /** One read at a time: a page may change its head faster than the browser answers. */
  async #read(session: string): Promise<void> {
    const page = this.#pages.get(session);
    if (!page) return;
    page.changed = true;
    if (page.reading) return;
    page.reading = true;
    try {
      while (page.changed) {
        page.changed = false;
        await this.#watchHead(session); // first, so that a change after the answer is reported
        this.#report(await this.#cdp.call("Target.getTargetInfo", { targetId: page.targetId }));
      }
    } catch {} // it has gone
    page.reading = false;
  }

  /** A document reports only nodes that were requested, and not new ones below them. */
  async #watchHead(session: string): Promise<void> {
    try {
      const { root } = await this.#cdp.call("DOM.getDocument", { depth: 0 }, session);
      const { nodeId } = root as Members;
      const head = await this.#cdp.call("DOM.querySelector", { nodeId, selector: "head" }, session);
      await this.#cdp.call("DOM.requestChildNodes", { ...head, depth: 2 }, session);
    } catch {} // there is no head yet, or the document has gone: either is reported
  }
}
