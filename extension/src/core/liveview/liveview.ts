// The live view: which page of the window's browser is shown, and the text where there is none.
//
// The browser gets no request while the view is hidden.
import { isDeepStrictEqual } from "node:util";
import { type Page, Pages } from "../browser/pages";
import { type Log, reason } from "../log";
import type { State } from "../protocol/protocol.generated";
import type { Store } from "../window/store";
import { Screencast, type Size } from "./screencast";

/** The messages to the panel's page. */
export type Shown =
  | { type: "empty"; text: string; start: boolean }
  | { type: "pages"; pages: readonly Page[]; current: string }
  | { type: "frame"; number: number; data: Uint8Array }
  | { type: "click"; x: number; y: number }
  /** Why the page cannot be shown; without it, it can. */
  | { type: "failed"; why?: string };

export type Show = (shown: Shown) => void;

const smallest = 320;
const largest = 2_560;
/** The size follows the panel's in steps, so that dragging its border does not restart the screencast with each pixel. */
const step = 160;

interface Filming {
  readonly key: string;
  readonly abort: AbortController;
  cast?: Screencast;
  failed?: boolean;
}

export class LiveView {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pages: Pages;
  readonly #unsubscribe: (() => void)[];
  #show: Show | undefined;
  /** The last message to the panel about its pages. */
  #lastSent: Shown | undefined;
  #chosen: string | undefined;
  #size: Size = { width: 1280, height: 960 };
  #number = 0;
  readonly #drawing = new Map<number, () => void>();
  /** What is filmed now, or could not be: the page, and the endpoint that it is reached by. */
  #filming: Filming | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#pages = new Pages(store, log);
    this.#unsubscribe = [store.subscribe(() => this.#update()), this.#pages.subscribe(() => this.#update())];
  }

  /** The panel is in sight and has loaded. */
  open(show: Show, size: Size): void {
    this.#stop();
    this.#show = show;
    this.#lastSent = undefined;
    this.#size = fitting(size);
    this.#pages.visible = true;
    this.#update();
  }

  /** The panel is out of sight. */
  hide(): void {
    this.#show = undefined;
    this.#pages.visible = false;
    this.#stop();
  }

  /** Tries again to show the page that failed. */
  retry(): void {
    if (this.#filming?.failed) this.#stop();
    this.#update();
  }

  choose(page: string): void {
    this.#chosen = page;
    this.#update();
  }

  resize(size: Size): void {
    const { width, height } = fitting(size);
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    void this.#filming?.cast?.resize(this.#size).catch((error: unknown) => this.#log.debug(reason(error)));
  }

  /** The panel has drawn a frame. */
  drawn(number: number): void {
    this.#drawing.get(number)?.();
    this.#drawing.delete(number);
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.hide();
    this.#pages.close();
  }

  #update(): void {
    const show = this.#show;
    if (!show) return;
    const { all } = this.#pages;
    const page = all.find(({ id }) => id === this.#chosen) ?? newest(all);
    if (!page) {
      this.#stop();
      this.#notify(show, { type: "empty", ...why(this.#store.state) });
      return;
    }
    this.#notify(show, { type: "pages", pages: all, current: page.id });
    const { state } = this.#store;
    const key = `${state.browser?.url ?? state.pages.find(({ debugSession }) => debugSession === page.id)?.url} ${page.id}`;
    if (this.#filming?.key === key) return;
    this.#stop();
    const abort = new AbortController();
    this.#filming = { key, abort };
    void this.#film(page, this.#filming, show);
  }

  #notify(show: Show, shown: Shown): void {
    if (isDeepStrictEqual(shown, this.#lastSent)) return;
    this.#lastSent = shown;
    show(shown);
  }

  async #film(page: Page, filming: Filming, show: Show): Promise<void> {
    const { signal } = filming.abort;
    const watcher = {
      frame: (data: Uint8Array) => this.#frame(data, show, signal),
      click: (x: number, y: number) => show({ type: "click", x, y }),
    };
    show({ type: "failed" });
    try {
      const cast = await Screencast.start(this.#store.state, page.id, this.#size, watcher, signal);
      filming.cast = cast;
      this.#log.debug(`the live view shows ${page.id}`);
      await cast.closed;
      await cast.close();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn(`the live view cannot show the page: ${reason(error)}`);
      show({ type: "failed", why: `The page cannot be shown: ${reason(error)}.` });
      filming.failed = true; // until another page or browser is selected, or the user retries
      return;
    }
    // What comes next, a new page or none, is reported by the browser.
    if (this.#filming === filming) this.#filming = undefined;
  }

  #frame(data: Uint8Array, show: Show, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#drawing.set(number, resolve);
      show({ type: "frame", number, data });
    });
  }

  #stop(): void {
    this.#filming?.abort.abort();
    this.#filming = undefined;
    for (const drawn of this.#drawing.values()) drawn(); // they are no longer drawn
    this.#drawing.clear();
  }
}

/** Without a choice the newest is the one in which something happens; an empty tab is passed over. */
function newest(pages: readonly Page[]): Page | undefined {
  return pages.findLast(({ url }) => !/^(about:blank|chrome:|edge:)/.test(url)) ?? pages.at(-1);
}

/** Why there is nothing to see, and what to do about it. */
function why(state: State): { text: string; start: boolean } {
  if (state.browser) return { text: "The browser has no page open.", start: false };
  if (state.debugSessions.length === 0) {
    return { text: "No browser is being debugged in this window. Start one, and its page appears here.", start: true };
  }
  return { text: "The debug browser of this window cannot be reached yet. The log shows why.", start: false };
}

function fitting({ width, height }: Size): Size {
  const bounded = (length: number) => Math.min(Math.max(Math.ceil(length / step) * step, smallest), largest);
  return { width: bounded(width), height: bounded(height) };
}
