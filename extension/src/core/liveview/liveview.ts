// The live view: which page of the window's browser is shown, and the text where there is none. What the user
// does in the picture is sent to the page.
//
// The browser gets no request while the view is hidden.
import { isDeepStrictEqual } from "node:util";
import * as l10n from "@vscode/l10n";
import { NoResponse } from "../browser/cdp";
import { type Page, Pages } from "../browser/pages";
import type { Sessions } from "../browser/sessions";
import { type Log, reason } from "../log";
import { clientName } from "../plaintext";
import type { State } from "../protocol/protocol.generated";
import { Sight } from "../sight";
import type { Notes } from "../window/notes";
import type { Store } from "../window/store";
import type { Pointed, Size } from "./element";
import { type KeyInput, type MouseInput, type PageDialog, Screencast } from "./screencast";

/** The messages to the panel's page. */
export type Shown =
  | { type: "empty"; text: string; start: boolean }
  | { type: "pages"; pages: readonly Page[]; current: string }
  /** `page` is the size of what it shows, in the page's own pixels. */
  | { type: "frame"; number: number; data: Uint8Array; page: Size }
  /** The element at the place that was last asked for. */
  | { type: "pointed"; chosen: boolean; element?: Pointed }
  /** The elements that the user has picked for a note, and the agents that can get it. */
  | { type: "draft"; elements: readonly string[]; recipients: readonly { id: string; name: string }[] }
  /** A client asks for an element; without a text no longer. The next click in the picture is the answer. */
  | { type: "asked"; text?: string }
  /** `own` is the user's click in the picture. */
  | { type: "click"; x: number; y: number; own: boolean }
  /** The page shows a dialog; without one it no longer does. */
  | { type: "dialog"; dialog?: PageDialog & { number: number } }
  /** Why the page cannot be shown; without it, it can. */
  | { type: "failed"; why?: string };

export type Show = (shown: Shown) => void;

const smallest = 320;
const largest = 2_560;
/** The size follows the panel's in steps: each one restarts the screencast, while the user drags a border. */
const step = 160;
/** A note is about so many elements, the last picked. */
const elementsLimit = 10;

interface Filming {
  readonly key: string;
  readonly page: string;
  readonly abort: AbortController;
  cast?: Screencast;
  failed?: boolean;
}

export class LiveView {
  readonly #store: Store;
  readonly #sessions: Sessions;
  readonly #log: Log;
  readonly #pages: Pages;
  readonly #unsubscribe: (() => void)[];
  #show: Show | undefined;
  /** The last message to the panel about its pages. */
  #lastSent: Shown | undefined;
  /** The same about the user's note. */
  #lastDraft: Shown | undefined;
  /** The elements that the user's next note is about. */
  #picked: readonly string[] = [];
  #chosen: string | undefined;
  #size: Size = { width: 1280, height: 960 };
  #number = 0;
  /** What clients ask the user to pick, the newest last. */
  readonly #requests: { text: string; page: string; cancel: () => void }[] = [];
  readonly #drawing = new Map<number, () => void>();
  /** How many dialogs of pages there were. */
  #dialogs = 0;
  /** The number of the one that is shown. */
  readonly #dialog = new Sight<number>();
  /** What is filmed now, or could not be: the page, and the endpoint that it is reached by. */
  #filming: Filming | undefined;

  /** `missing` is what the user must do before a browser can be shown. */
  constructor(
    store: Store,
    sessions: Sessions,
    log: Log,
    private readonly notes: Notes,
    private readonly missing: () => string | undefined = () => undefined,
  ) {
    this.#store = store;
    this.#sessions = sessions;
    this.#log = log;
    this.#pages = new Pages(store, log);
    this.#unsubscribe = [
      ...[store, sessions, this.#pages].map((part) => part.subscribe(() => this.#update())),
      notes.subscribe(() => this.#showDraft()),
    ];
  }

  /** The panel is in sight and has loaded. */
  open(show: Show, size: Size): void {
    this.#stop();
    this.#show = show;
    this.#lastSent = this.#lastDraft = undefined;
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
    this.#try((cast) => cast.resize(this.#size));
  }

  reload(): void {
    this.#try((cast) => cast.reload());
  }

  /** Sends the user's input to the page. */
  mouse(event: MouseInput): void {
    this.#try((cast) => cast.mouse(event));
  }

  key(event: KeyInput): void {
    this.#try((cast) => cast.key(event));
  }

  /** Answers the dialog of this number, if it is still there and the user can have read it. */
  answerDialog(number: number, accept: boolean, text: string): void {
    if (this.#dialog.isReadable(number)) this.#try((cast) => cast.answerDialog(accept, text));
  }

  /** Shows which element is at a place of the picture, and returns it. */
  async point(x: number, y: number, chosen: boolean): Promise<Pointed | undefined> {
    const show = this.#show;
    const element = await this.#filming?.cast?.elementAt(x, y).catch(() => undefined); // it has gone
    show?.({ type: "pointed", chosen, ...(element && { element }) });
    if (chosen && element) this.#pick(...this.#picked, element.text);
    return element;
  }

  /** Sends the user's note about the picked elements to an agent; reports whether it can get it. */
  sendNote(client: string, text: string): boolean {
    const page = this.#pages.all.find(({ id }) => id === this.#filming?.page);
    if (!page || this.#picked.length === 0) return false;
    const { title, url } = page;
    if (!this.notes.send(client, { text, page: { title, url }, elements: [...this.#picked] })) return false;
    this.discardNote();
    return true;
  }

  discardNote(): void {
    this.#pick();
  }

  #pick(...elements: string[]): void {
    this.#picked = elements.slice(-elementsLimit);
    this.#showDraft();
  }

  #showDraft(): void {
    const recipients = this.notes.recipients.map(({ id, name, version }) => ({
      id,
      name: clientName({ name, version }),
    }));
    const draft: Shown = { type: "draft", elements: this.#picked, recipients };
    if (!this.#show || isDeepStrictEqual(draft, this.#lastDraft)) return;
    this.#lastDraft = draft;
    this.#show(draft);
  }

  /**
   * Lets the user click an element of a page, in which the browser waits for that click. It ends with the signal;
   * before that it resolves only when the user cancels.
   */
  ask(text: string, page: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const request = { text, page, cancel: resolve };
      this.#requests.push(request);
      const end = () => {
        this.#requests.splice(this.#requests.indexOf(request), 1);
        this.#showRequest();
      };
      signal.addEventListener("abort", end, { once: true });
      this.choose(page);
      this.#showRequest();
    });
  }

  /** The user does not want to click what is asked for. */
  cancelRequest(): void {
    this.#request?.cancel();
  }

  /** In another page a click would be the page's own. */
  get #request() {
    return this.#requests.findLast(({ page }) => page === this.#filming?.page);
  }

  #showRequest(): void {
    this.#show?.({ type: "asked", text: this.#request?.text });
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

  /** A page that is gone, or paused, does not answer. */
  #try(act: (cast: Screencast) => Promise<void>): void {
    const { cast } = this.#filming ?? {};
    if (cast) void act(cast).catch((error: unknown) => this.#log.debug(reason(error)));
  }

  #update(): void {
    const show = this.#show;
    if (!show) return;
    this.#showDraft();
    const { all } = this.#pages;
    const page = all.find(({ id }) => id === this.#chosen) ?? newest(all);
    if (!page) {
      this.#stop();
      const { state } = this.#store;
      const isListing = state.browser !== null && !this.#pages.listed;
      if (!isListing) this.#notify(show, { type: "empty", ...this.#absence(state) });
      return;
    }
    this.#notify(show, { type: "pages", pages: all, current: page.id });
    const { browser, pages } = this.#store.state;
    const url = browser?.url ?? pages.find(({ debugSession }) => debugSession === page.id)?.url;
    const key = `${url} ${page.id}`;
    if (this.#filming?.key === key) return;
    this.#stop();
    const abort = new AbortController();
    this.#filming = { key, page: page.id, abort };
    void this.#film(page, this.#filming, show);
  }

  /** Why there is nothing to see, and what to do about it. */
  #absence({ browser, debugSessions }: State): { text: string; start: boolean } {
    const text = (text: string) => ({ text, start: false });
    if (browser) return text(l10n.t("The browser has no page open."));
    if (this.#sessions.unreachable)
      return text(l10n.t("The debug browser of this window cannot be reached. The log shows why."));
    if (debugSessions.length > 0) return text(l10n.t("The debug browser of this window is starting."));
    const missing = this.missing();
    if (missing !== undefined) return text(missing);
    const advice = l10n.t("No browser is being debugged in this window. Start one, and its page appears here.");
    return { text: advice, start: true };
  }

  #notify(show: Show, shown: Shown): void {
    if (isDeepStrictEqual(shown, this.#lastSent)) return;
    this.#lastSent = shown;
    show(shown);
  }

  async #film(page: Page, filming: Filming, panel: Show): Promise<void> {
    const { signal } = filming.abort;
    const show = (shown: Shown) => signal.aborted || panel(shown);
    const watcher = {
      frame: (data: Uint8Array, page: Size) => this.#frame(data, page, show, signal),
      click: (x: number, y: number, own: boolean) => show({ type: "click", x, y, own }),
      dialog: (dialog?: PageDialog) => signal.aborted || this.#showDialog(panel, dialog),
    };
    show({ type: "failed" });
    this.#showDialog(panel);
    this.discardNote(); // its elements were another page's
    if (this.#request) this.#showRequest();
    try {
      const size = this.#size;
      const cast = await Screencast.start(this.#store.state, page.id, size, watcher, signal);
      filming.cast = cast;
      if (size !== this.#size) this.#try(() => cast.resize(this.#size)); // it changed meanwhile
      this.#log.debug(`the live view shows ${page.id}`);
      await cast.closed;
      await cast.close();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn(`the live view cannot show the page: ${reason(error)}`);
      const why =
        error instanceof NoResponse
          ? l10n.t("The page does not respond. It may show a dialog, or stand at a breakpoint.")
          : l10n.t("The page cannot be shown: {0}.", reason(error));
      show({ type: "failed", why });
      filming.failed = true; // until another page or browser is selected, or the user retries
      return;
    }
    // What comes next, a new page or none, is reported by the browser.
    if (this.#filming === filming) this.#filming = undefined;
  }

  #showDialog(show: Show, dialog?: PageDialog): void {
    this.#dialogs += 1;
    const number = this.#dialogs;
    this.#dialog.show(...(dialog ? [number] : []));
    show({ type: "dialog", ...(dialog && { dialog: { ...dialog, number } }) });
  }

  #frame(data: Uint8Array, page: Size, show: Show, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#drawing.set(number, resolve);
      show({ type: "frame", number, data, page });
    });
  }

  #stop(): void {
    this.#filming?.abort.abort();
    this.#filming = undefined;
    this.#dialog.show();
    for (const drawn of this.#drawing.values()) drawn(); // they are no longer drawn
    this.#drawing.clear();
  }
}

/** Without a choice the newest is the one in which something happens; an empty tab is passed over. */
function newest(pages: readonly Page[]): Page | undefined {
  return pages.findLast(({ url }) => !/^(about:blank|chrome:|edge:)/.test(url)) ?? pages.at(-1);
}

function fitting({ width, height }: Size): Size {
  const bounded = (length: number) => Math.min(Math.max(Math.ceil(length / step) * step, smallest), largest);
  return { width: bounded(width), height: bounded(height) };
}
