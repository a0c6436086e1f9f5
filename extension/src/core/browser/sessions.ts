// Keeps the store's state in step with the window's browser debug sessions.
//
// The editor reports what starts and ends; this decides which endpoint is published. Nothing is polled: a
// search that found nothing is repeated when the session gets a page.

import { type Log, reason } from "../log";
import type { Browser, PageEndpoint } from "../protocol/protocol.generated";
import type { Store } from "../window/store";
import { withTimeout } from "../within";
import { whenEnded } from "./browserurl";
import { decisionOf, type PortDecision } from "./debuggingport";
import { endpointSource, findEndpoint } from "./discovery";
import { type Configuration, isBrowserType, isRemote } from "./injection";

/** A debug session, as the editor reports it. */
export interface SessionInfo {
  id: string;
  /** As it is now: it may change. */
  readonly name: string;
  type: string;
  parent?: SessionInfo | undefined;
  configuration: Configuration;
}

interface Entry {
  readonly info: SessionInfo;
  readonly abort: AbortController;
  /** As it was published last. */
  name?: string;
  browser?: Browser;
  page?: PageEndpoint;
  /** Its browser or page had no endpoint, or has lost it: the log has the reason. */
  unreachable?: boolean;
  unwatch?: () => void;
  search?: Promise<void>;
}

/** js-debug's shared CDP for a child session: `{host, port, path}`, or nothing. */
export type PageProxy = (sessionId: string) => PromiseLike<unknown>;

const proxyLimit = 3_000;

export class Sessions {
  /** In the order of their start. */
  readonly #entries = new Map<string, Entry>();
  readonly #store: Store;
  readonly #pageProxy: PageProxy;
  readonly #log: Log;
  readonly #listeners = new Set<() => void>();
  #own: Browser | undefined;

  constructor(store: Store, pageProxy: PageProxy, log: Log) {
    this.#store = store;
    this.#pageProxy = pageProxy;
    this.#log = log;
  }

  /** A session has started, or was there before us. */
  started(info: SessionInfo): void {
    if (!isBrowserType(info.type) || this.#entries.has(info.id)) return;
    if (info.parent) this.started(info.parent);
    const entry: Entry = { info, abort: new AbortController() };
    this.#entries.set(info.id, entry);
    this.#publish();
    const root = this.#root(entry);
    if (root === entry) void this.#search(root);
    else void this.#child(root, entry);
  }

  /** The debug adapter sent a message: js-debug renames a page by its title, and has no event for that. */
  adapterActive(id: string): void {
    const entry = this.#entries.get(id);
    if (entry && entry.name !== entry.info.name) this.#publish();
  }

  /** A session has ended, and everything below it. */
  ended(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    entry.abort.abort();
    entry.unwatch?.();
    for (const other of [...this.#entries.values()]) {
      if (other.info.parent?.id === id) this.ended(other.info.id);
    }
    this.#publish();
  }

  /** The user's own browser, which takes the place of those that are debugged; undefined: of none. */
  set own(browser: Browser | undefined) {
    this.#own = browser;
    this.#publish();
  }

  /** Whether there is a browser that nobody can join. One that is only starting may be joined soon. */
  get unreachable(): boolean {
    const { browser, pages } = this.#store.state;
    return browser === null && pages.length === 0 && [...this.#entries.values()].some((entry) => entry.unreachable);
  }

  /** Calls listener after each change, when the store has it, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What was decided about a port for the browser that a session belongs to. */
  decisionOf(id: string): PortDecision | undefined {
    const entry = this.#entries.get(id);
    return entry && decisionOf(this.#root(entry).info.configuration);
  }

  /** Forgets all sessions. */
  close(): void {
    for (const id of [...this.#entries.keys()]) this.ended(id);
  }

  #root(entry: Entry): Entry {
    const parent = entry.info.parent && this.#entries.get(entry.info.parent.id);
    return parent ? this.#root(parent) : entry;
  }

  async #child(root: Entry, entry: Entry): Promise<void> {
    await root.search; // it began before there was a page, so what it found counts only if it found something
    await this.#search(root);
    if (root.browser || entry.abort.signal.aborted) return;
    try {
      const url = await this.#proxyURL(entry.info.id);
      if (entry.abort.signal.aborted || root.browser) return;
      entry.page = { debugSession: entry.info.id, name: entry.info.name, url };
      this.#log.info(`page endpoint for "${entry.info.name}" through js-debug`);
      this.#publish();
    } catch (error) {
      this.#log.warn(`no page endpoint for "${entry.info.name}": ${reason(error)}`);
      if (entry.abort.signal.aborted) return;
      entry.unreachable = true;
      this.#publish();
    }
  }

  /** One search at a time; a new one only while there is nothing. */
  #search(root: Entry): Promise<void> {
    if (root.browser) return Promise.resolve();
    root.search ??= this.#find(root).finally(() => {
      delete root.search;
    });
    return root.search;
  }

  async #find(root: Entry): Promise<void> {
    const { info, abort } = root;
    const source = endpointSource(info.configuration);
    if (!source) {
      this.#log.info(`"${info.name}" has no port that can be reached from here`);
      return;
    }
    try {
      const found = await findEndpoint(source, abort.signal);
      if (abort.signal.aborted) return;
      root.browser = { ...found, debugSession: info.id, via: source.via };
      root.unwatch = whenEnded(found.url, () => this.#lost(root));
      this.#log.info(`browser endpoint of "${info.name}" found (${source.via}, ${found.product ?? "unknown browser"})`);
      for (const other of this.#entries.values()) {
        if (this.#root(other) === root) delete other.page;
      }
      this.#publish();
    } catch (error) {
      if (!abort.signal.aborted) this.#log.warn(`no browser endpoint for "${info.name}" yet: ${reason(error)}`);
    }
  }

  /** The browser is gone, whatever the debugger thinks of it. */
  #lost(root: Entry): void {
    this.#log.info(`the browser of "${root.info.name}" is gone`);
    delete root.browser;
    delete root.unwatch;
    root.unreachable = true;
    this.#publish();
  }

  async #proxyURL(id: string): Promise<string> {
    // A session without a shared CDP never responds.
    const timeout = () => new Error(`js-debug did not respond within ${proxyLimit} ms`);
    const { host, port, path } = ((await withTimeout(this.#pageProxy(id), proxyLimit, timeout)) ?? {}) as Record<
      string,
      unknown
    >;
    if (typeof host !== "string" || typeof port !== "number") throw new Error("js-debug offers none");
    if (!["127.0.0.1", "localhost", "::1"].includes(host)) throw new Error(`it is not on this machine: ${host}`);
    const suffix = typeof path === "string" ? path.replace(/^\//, "") : "";
    return `ws://${host === "::1" ? "[::1]" : host}:${port}/${suffix}`;
  }

  #publish(): void {
    const entries = [...this.#entries.values()];
    for (const entry of entries) {
      entry.name = entry.info.name;
      if (entry.page) entry.page.name = entry.name;
    }
    this.#store.set({
      debugSessions: entries.map(({ info: { id, name, type, parent, configuration } }) => ({
        id,
        name,
        type,
        ...(parent ? { parent: parent.id } : isRemote(configuration) && { remote: true }),
      })),
      // The newest session's browser: it is the one that the user sees.
      browser: this.#own ?? entries.findLast((entry) => entry.browser)?.browser ?? null,
      pages: this.#own ? [] : entries.flatMap((entry) => entry.page ?? []),
    });
    for (const listener of this.#listeners) listener();
  }
}
