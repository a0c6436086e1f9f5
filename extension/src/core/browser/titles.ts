// When a page's title may have changed, for whoever lists pages.
//
// The browser tells of a page before it has read its title, and has no event for a title. So each page gets a
// session of its own, which tells when it has loaded and when something changes in its head. No script runs
// in the page, and of its body nothing is told but what comes and goes right below it.
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
  looking: boolean;
  /** It has changed since the last look began. */
  changed: boolean;
}

export class Titles {
  readonly #cdp: Cdp;
  readonly #told: (info: Members) => void;
  /** By the sessions that tell of them. */
  readonly #pages = new Map<string, Followed>();

  /** Calls told with what a page is, whenever its title may be another. It ends with the connection. */
  constructor(cdp: Cdp, told: (info: Members) => void) {
    this.#cdp = cdp;
    this.#told = told;
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => this.#pages.delete(String(sessionId)));
    for (const event of changes) cdp.on(event, (_, session = "") => void this.#look(session));
  }

  async follow(targetId: string): Promise<void> {
    try {
      const { sessionId } = await this.#cdp.call("Target.attachToTarget", { targetId, flatten: true });
      const session = String(sessionId);
      this.#pages.set(session, { targetId, looking: false, changed: false });
      for (const enable of ["Page.enable", "DOM.enable"]) await this.#cdp.call(enable, {}, session);
      await this.#look(session);
    } catch {} // it has gone
  }

  /** One look at a time: a page may change its head faster than the browser answers. */
  async #look(session: string): Promise<void> {
    const page = this.#pages.get(session);
    if (!page) return;
    page.changed = true;
    if (page.looking) return;
    page.looking = true;
    try {
      while (page.changed) {
        page.changed = false;
        await this.#watchHead(session); // before the question: so what comes after its answer is told
        this.#told(await this.#cdp.call("Target.getTargetInfo", { targetId: page.targetId }));
      }
    } catch {} // it has gone
    page.looking = false;
  }

  /** A document tells only of nodes that it was asked for, and not of what is new below them. */
  async #watchHead(session: string): Promise<void> {
    try {
      const { root } = await this.#cdp.call("DOM.getDocument", { depth: 0 }, session);
      const { nodeId } = root as Members;
      const head = await this.#cdp.call("DOM.querySelector", { nodeId, selector: "head" }, session);
      await this.#cdp.call("DOM.requestChildNodes", { ...head, depth: 2 }, session);
    } catch {} // there is no head yet, or the document has gone: either is told
  }
}
