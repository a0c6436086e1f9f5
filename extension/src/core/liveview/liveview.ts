// The live view: which page of the window's browser is shown, and the text where there is none. What the user
// does in the picture is sent to the page.
//
// The browser gets no request while the view is hidden.
import { isDeepStrictEqual } from "node:util";
import * as l10n from "@vscode/l10n";
import { whenAborted } from "../abort";
import { NoResponse } from "../browser/cdp";
import { newest, type Page, Pages } from "../browser/pages";
import type { Sessions } from "../browser/sessions";
import { type Log, reason } from "../log";
import { clientName } from "../plaintext";
import type { AnnotatedNode, Annotation, Note, State } from "../protocol/protocol.generated";
import { Sight } from "../sight";
import { annotationsLimit } from "../window/notelimits";
import type { States } from "../window/store";
import { type Device, type DeviceName, deviceOf } from "./device";
import { annotationOf, type Box, boxesOf, type Drawn, drawnIn, elementAt, type Pointed, type Size } from "./element";
import {
  type HistoryPlace,
  type KeyInput,
  type MouseInput,
  type PageDialog,
  Screencast,
  type Seen,
} from "./screencast";
import { typedAddress } from "./typedaddress";

/** The messages to the panel's page. */
export type Shown =
  | { type: "empty"; text: string; start: boolean }
  /**
   * `following` is whether the view changes to the page of the agent that acts. It is left out where only the debugger
   * knows the page: the view cannot follow there, nor give the page a size.
   */
  | { type: "pages"; pages: readonly Page[]; current: string; following?: boolean }
  /** Where the page is in its history. */
  | ({ type: "place" } & HistoryPlace)
  /** Why what the user has typed is not opened. */
  | { type: "refused"; why: string }
  /** `page` is what it shows, in the page's own pixels. */
  | { type: "frame"; number: number; data: Uint8Array; page: Seen }
  /** The element at the place that was last asked for. */
  | { type: "pointed"; chosen: boolean; element?: Pointed }
  /** Why what the user has drawn, or picked, is not in the note. */
  | { type: "undrawn"; why: string }
  /** What the user's next note is about, and the agents that can get it: first the one whose page is shown. */
  | { type: "draft"; places: readonly Place[]; recipients: readonly { id: string; name: string }[] }
  /** Where the elements are that agents ask to act on, in parts of the picture. */
  | { type: "targets"; boxes: readonly Box[] }
  /** A client asks for an element; without a text no longer. The next click in the picture is the answer. */
  | { type: "asked"; text?: string }
  /** `own` is the user's click in the picture. */
  | { type: "click"; x: number; y: number; own: boolean }
  /** Whether the user has taken over the browser, and what waits for its return. */
  | { type: "takeover"; taken: boolean; text: string }
  /** The device whose size the page has by the user; without one, another size. */
  | { type: "device"; name?: DeviceName; turned: boolean }
  /** The page shows a dialog; without one it no longer does. */
  | { type: "dialog"; dialog?: PageDialog & { number: number } }
  /** Why the page cannot be shown; without it, it can. */
  | { type: "failed"; why?: string };

/** An element that the user has picked, or an area that the user has drawn, for a note. */
export interface Place {
  id: number;
  /** Empty: no element covers it. */
  element: string;
  /** What the user has written about it. */
  comment: string;
  /** The page that it is in. */
  page: string;
  /** In the document, as frames have it; without it another document is shown now. */
  at?: Box;
}

export type Show = (shown: Shown) => void;

/** How notes reach agents. */
export interface Mailbox {
  readonly recipients: readonly { id: string; name: string; version: string; page?: string }[];
  subscribe(listener: () => void): () => void;
  /** Reports whether the agent can get it. */
  send(client: string, note: Note): boolean | Promise<boolean>;
}

/** What agents do. */
export interface Agents {
  /** The page in which one acted last. */
  readonly lastPage: string | undefined;
  /** The elements that they ask the user to let them act on. */
  readonly asked: readonly AnnotatedNode[];
  /** What waits while the user has taken over the browser, for people. */
  readonly waiting: string;
  subscribe(listener: () => void): () => void;
}

const smallest = 160;
const largest = 2_560;

interface Annotated {
  readonly id: number;
  readonly annotation: Annotation;
  /** Where it is in the document that is shown; without it, in none. */
  readonly at?: Box;
}

interface Filming {
  readonly key: string;
  readonly page: string;
  /** Where the browser says that the page is. */
  url: string;
  readonly abort: AbortController;
  cast?: Screencast;
  failed?: boolean;
}

export class LiveView {
  readonly #store: States;
  readonly #sessions: Pick<Sessions, "subscribe" | "unreachable">;
  readonly #log: Log;
  readonly #pages: Pages;
  readonly #unsubscribe: (() => void)[];
  /** Called with an error in the page's console; without one, another document is shown. */
  onError: (text?: string) => void = () => {};
  #show: Show | undefined;
  /** The last message to the panel about its pages. */
  #lastSent: Shown | undefined;
  /** The same about the user's note. */
  #lastDraft: Shown | undefined;
  /** The same about what agents ask to act on. */
  #lastTargets: readonly Box[] | undefined;
  /** How often the places of that may have changed since they were last looked for. */
  #moves = 0;
  /** The same about who drives. */
  #lastTakeover: Shown | undefined;
  /** What the user's next note is about. */
  #annotations: readonly Annotated[] = [];
  #lastAnnotation = 0;
  /** A note is on its way to its agent. */
  #sending = false;
  /** How many documents there were in the picture. */
  #documents = 0;
  #chosen: string | undefined;
  /** The page that is shown, or was last. */
  #shown: string | undefined;
  /** The page of the agent that acted last is shown, as soon as that ends nothing that the user does. */
  #following = true;
  /** The user is at something in the panel that another page would end. */
  #busy = false;
  /** How many places are on their way into the note. */
  #annotating = 0;
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
    store: States,
    sessions: Pick<Sessions, "subscribe" | "unreachable">,
    log: Log,
    private readonly notes: Mailbox,
    private readonly agents: Agents,
    private readonly missing: () => string | undefined = () => undefined,
  ) {
    this.#store = store;
    this.#sessions = sessions;
    this.#log = log;
    this.#pages = new Pages(store, log);
    this.#unsubscribe = [
      ...[store, sessions, this.#pages, agents].map((part) => part.subscribe(() => this.#update())),
      notes.subscribe(() => this.#showDraft()),
    ];
  }

  /** The panel is in sight and has loaded. */
  open(show: Show, size: Size): void {
    this.#stop();
    this.#show = show;
    this.#lastSent = this.#lastDraft = this.#lastTakeover = this.#lastTargets = undefined;
    this.#size = fitting(size);
    this.#pages.visible = true;
    this.#update();
  }

  /** The panel is out of sight. */
  hide(): void {
    this.#show = undefined;
    this.#busy = false;
    this.#pages.visible = false;
    this.#stop();
  }

  /** Tries again to show the page that failed. */
  retry(): void {
    if (this.#filming?.failed) this.#stop();
    this.#update();
  }

  /** Shows this page until the user chooses another one. */
  choose(page: string): void {
    this.#following = false;
    this.#chosen = page;
    this.#update();
  }

  /** Shows the page in which an agent acted last, from now on; or stays at the page that is shown. */
  follow(following: boolean): void {
    this.#following = following;
    this.#chosen = following ? undefined : (this.#filming?.page ?? this.#chosen);
    this.#update();
  }

  setBusy(busy: boolean): void {
    this.#busy = busy;
    this.#update();
  }

  resize(size: Size): void {
    const { width, height } = fitting(size);
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    this.#try((cast) => cast.resize(this.#size));
  }

  /** Opens what the user has typed, or shows why it is not opened. */
  navigate(address: string): void {
    const url = typedAddress(address);
    if (url === undefined) {
      this.#refuse(l10n.t("Type the address of a page, such as localhost:3000."));
      return;
    }
    this.#try(
      (cast) => cast.navigate(url),
      (why) => this.#refuse(l10n.t("The address cannot be opened: {0}.", why)),
    );
  }

  #refuse(why: string): void {
    this.#show?.({ type: "refused", why });
  }

  /** Goes one back in the page's history, or one forward. */
  go(by: -1 | 1): void {
    this.#try((cast) => cast.go(by));
  }

  reload(): void {
    this.#try((cast) => cast.reload());
  }

  /** Gives the page a device's size, until another page is shown; without one, that of its window. */
  setDevice(name: DeviceName | undefined, turned: boolean): void {
    this.#try((cast) => cast.emulate(name && deviceOf(name, turned)));
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
    if (chosen) return this.annotate([x, y, 0, 0]);
    const show = this.#show;
    const element = await this.#ask(({ call }, size) => elementAt(call, [x, y], size));
    show?.({ type: "pointed", chosen, ...(element && { element }) });
    return element;
  }

  /** Adds an area of the picture to the user's next note, or without a size the element there, and returns that. */
  async annotate(area: Box): Promise<Pointed | undefined> {
    this.#annotating += 1;
    try {
      return await this.#annotate(area);
    } finally {
      this.#annotating -= 1;
      this.#update();
    }
  }

  async #annotate(area: Box): Promise<Pointed | undefined> {
    const [show, filming, document] = [this.#show, this.#filming, this.#documents];
    const drawn = await this.#ask<Drawn>(
      (cast, size) => cast.capture(() => drawnIn(cast.call, area, size)),
      () => show?.({ type: "undrawn", why: l10n.t("The page does not respond: try again.") }),
    );
    const element = drawn?.element;
    show?.({ type: "pointed", chosen: true, ...(element && { element }) });
    if (!drawn || this.#annotations.length >= annotationsLimit) return element;
    const { title = "" } = this.#pages.all.find(({ id }) => id === filming?.page) ?? {};
    const annotation = annotationOf(drawn, title);
    this.#lastAnnotation += 1;
    const at = document === this.#documents && { at: drawn.place };
    this.#setAnnotations([...this.#annotations, { id: this.#lastAnnotation, annotation, ...at }]);
    return element;
  }

  /** Asks the browser about what is in the picture; resolves to undefined where there is none, or it has gone. */
  async #ask<T>(
    question: (cast: Screencast, size: Size) => Promise<T | undefined>,
    unanswered?: () => void,
  ): Promise<T | undefined> {
    const { cast } = this.#filming ?? {};
    return (
      cast?.viewport &&
      question(cast, cast.viewport).catch((error: unknown) => {
        if (error instanceof NoResponse) unanswered?.();
        return undefined;
      })
    );
  }

  /** What the user writes about a place. */
  comment(id: number, text: string): void {
    const found = this.#annotations.find((each) => each.id === id);
    if (found) found.annotation.text = text;
  }

  remove(id: number): void {
    this.#setAnnotations(this.#annotations.filter((each) => each.id !== id));
  }

  /** Sends the user's note to an agent; resolves to whether it can get it, undefined: nothing is left to send. */
  async sendNote(client: string, text: string): Promise<boolean | undefined> {
    const sent = this.#annotations;
    if (this.#sending || sent.length === 0) return undefined;
    this.#sending = true;
    try {
      const annotations = sent.map(({ annotation }) => ({ ...annotation }));
      if (!(await this.notes.send(client, { text, annotations }))) return false;
      const ids = new Set(sent.map(({ id }) => id));
      this.#setAnnotations(this.#annotations.filter(({ id }) => !ids.has(id)));
      return true;
    } finally {
      this.#sending = false;
    }
  }

  discardNote(): void {
    this.#setAnnotations([]);
  }

  #setAnnotations(annotations: readonly Annotated[]): void {
    this.#annotations = annotations;
    this.#update();
  }

  /** Another document is shown: what the user has drawn stays in the note, but is nowhere in the picture. */
  #leaveDocument(): void {
    this.#documents += 1;
    this.#setAnnotations(this.#annotations.map(({ id, annotation }) => ({ id, annotation })));
  }

  #showDraft(): void {
    const isShown = ({ page }: { page?: string }) => page !== undefined && page === this.#shown;
    const all = this.notes.recipients;
    const recipients = [...all.filter(isShown), ...all.filter((each) => !isShown(each))].map((each) => ({
      id: each.id,
      name: clientName(each),
    }));
    const places = this.#annotations.map(({ id, annotation: { element, text, page }, at }) => ({
      id,
      element,
      comment: text,
      page: page.url,
      ...(at && { at }),
    }));
    const draft: Shown = { type: "draft", places, recipients };
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
        this.#update();
      };
      this.#chosen = page;
      this.#update();
      this.#showRequest();
      whenAborted(signal, end);
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

  /** A page that is gone, or paused, does not answer; nor does one in time whose server is slow. */
  #try(act: (cast: Screencast) => Promise<void>, refused?: (why: string) => void): void {
    const { cast, page } = this.#filming ?? {};
    if (!cast) {
      refused?.(l10n.t("the page is not shown yet"));
      return;
    }
    void act(cast).catch((error: unknown) => {
      this.#log.debug(reason(error));
      const isShown = page === this.#filming?.page; // another page has nothing to do with it
      if (isShown && !(error instanceof NoResponse)) refused?.(reason(error));
    });
  }

  #update(): void {
    const show = this.#show;
    if (!show) return;
    this.#showDraft();
    this.#showTakeover(show);
    const { state } = this.#store;
    if (state.browser && !this.#pages.listed) {
      // the page to show may be still to come
      this.#stop();
      return;
    }
    const { all } = this.#pages;
    const page = this.#select(all);
    if (!page) {
      this.#stop();
      this.#notify(show, { type: "empty", ...this.#absence(state) });
      return;
    }
    const { browser, pages } = state;
    const following = browser && { following: this.#following }; // the debugger does not know agents' pages
    this.#notify(show, { type: "pages", pages: all, current: page.id, ...following });
    const url = browser?.url ?? pages.find(({ debugSession }) => debugSession === page.id)?.url;
    const key = `${url} ${page.id}`;
    if (this.#filming?.key === key) {
      void this.#showTargets();
      if (this.#filming.url !== page.url) void this.#filming.cast?.readPlace();
      this.#filming.url = page.url;
      return;
    }
    this.#stop();
    const abort = new AbortController();
    this.#filming = { key, page: page.id, url: page.url, abort };
    this.#shown = page.id;
    void this.#film(page, this.#filming, show);
    this.#showDraft(); // its agent is the first
  }

  #select(all: readonly Page[]): Page | undefined {
    const page = (wanted: string | undefined) => all.find(({ id }) => id === wanted);
    return (this.#following ? page(this.#followed) : undefined) ?? page(this.#chosen) ?? newest(all);
  }

  /** The page that is shown next, while the view follows agents. */
  get #followed(): string | undefined {
    const asked = this.#requests.at(-1)?.page;
    if (asked !== undefined) return asked;
    const { takenOver = false } = this.#store.state.access;
    const isHeld = this.#busy || takenOver || this.#annotating > 0 || this.#annotations.length > 0;
    return isHeld ? this.#shown : this.agents.lastPage;
  }

  #showTakeover(show: Show): void {
    const { takenOver: taken = false } = this.#store.state.access;
    const takeover: Shown = { type: "takeover", taken, text: taken ? this.agents.waiting : "" };
    if (!isDeepStrictEqual(takeover, this.#lastTakeover)) show(takeover);
    this.#lastTakeover = takeover;
  }

  /** Shows where what agents ask to act on is now: looks for one place at a time, however often it moves. */
  async #showTargets(): Promise<void> {
    this.#moves += 1;
    if (this.#moves > 1) return;
    for (let seen = 0; seen < this.#moves; ) {
      seen = this.#moves;
      const page = this.#filming?.page;
      const nodes = this.agents.asked.filter(({ target }) => target === page);
      const found = nodes.length > 0 && (await this.#ask(({ call }, size) => boxesOf(call, nodes, size)));
      const boxes = (page === this.#filming?.page && found) || [];
      if (isDeepStrictEqual(boxes, this.#lastTargets)) continue;
      this.#lastTargets = boxes;
      this.#show?.({ type: "targets", boxes });
    }
    this.#moves = 0;
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
      frame: (data: Uint8Array, page: Seen) => this.#frame(data, page, show, signal),
      measured: () => signal.aborted || void this.#showTargets(),
      click: (x: number, y: number, own: boolean) => show({ type: "click", x, y, own }),
      dialog: (dialog?: PageDialog) => signal.aborted || this.#showDialog(panel, dialog),
      error: (text?: string) => {
        if (signal.aborted) return;
        if (text === undefined) this.#leaveDocument();
        this.onError(text);
      },
      place: (place: HistoryPlace) => filming.cast && show({ type: "place", ...place }), // else it is read again
      device: (device?: Device) => show({ type: "device", turned: false, ...(device && named(device)) }),
    };
    show({ type: "failed" });
    watcher.device();
    show({ type: "place", url: "", back: false, forward: false }); // until it is known
    this.#showDialog(panel);
    void this.#showTargets(); // the other page's
    this.#leaveDocument();
    if (this.#request) this.#showRequest();
    try {
      const size = this.#size;
      const cast = await Screencast.start(this.#store.state, page.id, size, watcher, signal);
      filming.cast = cast;
      watcher.device(); // the user may have chosen one before
      void cast.readPlace();
      if (size !== this.#size) this.#try(() => cast.resize(this.#size)); // it changed meanwhile
      this.#log.debug(`the live view shows ${page.id}`);
      await cast.closed;
      await cast.close();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn(`the live view cannot show the page: ${reason(error)}`);
      const why =
        error instanceof NoResponse
          ? l10n.t("The page does not respond. It may show a dialog, or be paused at a breakpoint.")
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

  #frame(data: Uint8Array, page: Seen, show: Show, signal: AbortSignal): Promise<void> {
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
    for (const resolve of this.#drawing.values()) resolve(); // they are no longer drawn
    this.#drawing.clear();
  }
}

function named({ name, turned }: Device): Pick<Device, "name" | "turned"> {
  return { name, turned };
}

function fitting({ width, height }: Size): Size {
  const bounded = (length: number) => Math.min(Math.max(Math.round(length), smallest), largest);
  return { width: bounded(width), height: bounded(height) };
}
