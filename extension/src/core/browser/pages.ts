// The pages of this window's browser, kept up to date by the browser's own events for as long as
// a view shows it.

import { type Log, reason } from "../log";
import type { State } from "../protocol/protocol.generated";
import type { States } from "../window/store";
import { Cdp, type Members } from "./cdp";
import { Titles } from "./titles";

/** A page: id is its CDP target where the browser reports it, else its debug session. */
export interface Page {
  readonly id: string;
  readonly title: string;
  readonly url: string;
}

export class Pages {
  readonly #store: States;
  readonly #log: Log;
  readonly #pages = new Map<string, Page>();
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  readonly #viewers = new Set<object>();
  #browser: string | undefined;
  #listed = false;
  #connection: AbortController | undefined;

  constructor(store: States, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#unsubscribe = store.subscribe(() => this.#follow());
  }

  /** In the order in which they were opened. */
  get all(): Page[] {
    return this.#browser ? [...this.#pages.values()] : byDebugger(this.#store.state);
  }

  /** Whether the browser has reported the pages that it has. */
  get listed(): boolean {
    return this.#listed;
  }

  /** Whether the only view of them shows them. */
  set visible(visible: boolean) {
    this.show(this, visible);
  }

  /** Whether a view shows them: without one that does, there is no connection. */
  show(view: object, visible: boolean): void {
    if (visible) this.#viewers.add(view);
    else this.#viewers.delete(view);
    this.#follow();
  }

  /** Calls listener after each change until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
    this.#viewers.clear();
    this.#follow();
  }

  #follow(): void {
    const url = this.#viewers.size > 0 ? this.#store.state.browser?.url : undefined;
    if (url === this.#browser) return;
    this.#connection?.abort();
    this.#connection = undefined;
    this.#browser = url;
    this.#listed = false;
    this.#pages.clear();
    if (url) {
      this.#connection = new AbortController();
      void this.#watch(url, this.#connection.signal);
    }
    this.#changed();
  }

  async #watch(url: string, signal: AbortSignal): Promise<void> {
    let cdp: Cdp;
    try {
      cdp = await Cdp.connect(url, signal);
    } catch (error) {
      if (!signal.aborted) this.#log.warn(`the browser's pages cannot be listed: ${reason(error)}`);
      return;
    }
    signal.addEventListener("abort", () => cdp.close());
    if (signal.aborted) return cdp.close();
    const update = (event: Members) => !signal.aborted && this.#update(event.targetInfo as Members);
    const titles = new Titles(cdp, update);
    cdp.on("Target.targetCreated", (event) => {
      if (update(event)) void titles.follow(String((event.targetInfo as Members).targetId));
    });
    cdp.on("Target.targetInfoChanged", update);
    cdp.on("Target.targetDestroyed", ({ targetId }) => {
      if (!signal.aborted && this.#pages.delete(String(targetId))) this.#changed();
    });
    // The browser reports existing ones as if they had just been created.
    await cdp.call("Target.setDiscoverTargets", { discover: true }).catch((error: unknown) => {
      if (!signal.aborted) this.#log.warn(`the browser's pages cannot be listed: ${reason(error)}`);
    });
    if (signal.aborted) return;
    this.#listed = true;
    this.#changed();
  }

  /** Whether it is a page that a person can see. */
  #update(info: Members): boolean {
    if (!isPage(info)) return false;
    const page = toPage(info);
    this.#pages.set(page.id, page);
    this.#changed();
    return true;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What a user does with a page, as the methods of CDP. */
export const pageActions = { closePage: "Page.close", reloadPage: "Page.reload", showPage: "Page.bringToFront" };

export async function actOnPage(browser: string, page: Page, method: string): Promise<void> {
  const cdp = await Cdp.connect(browser);
  try {
    const { sessionId } = await cdp.call("Target.attachToTarget", { targetId: page.id, flatten: true });
    await cdp.call(method, {}, String(sessionId));
  } finally {
    cdp.close();
  }
}

/** The pages of a browser, now. */
export async function listPages(browser: string): Promise<Page[]> {
  const cdp = await Cdp.connect(browser);
  try {
    const { targetInfos } = await cdp.call("Target.getTargets");
    return (targetInfos as Members[]).filter(isPage).map(toPage);
  } finally {
    cdp.close();
  }
}

/** Without a choice the newest is the one in which something happens; an empty tab is passed over. */
export function newest(pages: readonly Page[]): Page | undefined {
  return pages.findLast(({ url }) => !/^(about:blank|chrome:|edge:)/.test(url)) ?? pages.at(-1);
}

function isPage({ type, url }: Members): boolean {
  return type === "page" && !String(url).startsWith("devtools://");
}

function toPage({ targetId, title, url }: Members): Page {
  return { id: String(targetId), title: String(title), url: String(url) };
}

/**
 * Where the browser cannot be reached, the debugger's sessions stand for the pages; those below them are
 * their frames and workers.
 */
function byDebugger({ pages, debugSessions }: State): Page[] {
  const shared = new Set(pages.map(({ debugSession }) => debugSession));
  const children = new Set(
    debugSessions.flatMap(({ id, parent }) => (parent !== undefined && shared.has(parent) ? id : [])),
  );
  return pages
    .filter(({ debugSession }) => !children.has(debugSession))
    .map(({ debugSession, name }) => ({ id: debugSession, title: name, url: "" }));
}
