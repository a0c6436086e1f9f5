// A page in the overview: its moving picture while it is in sight, its name, and the errors in its console.
import * as l10n from "@vscode/l10n";
import { NoResponse } from "../../core/browser/cdp";
import type { Page } from "../../core/browser/pages";
import { Screencast, type Watcher } from "../../core/liveview/screencast";
import { reason } from "../../core/log";
import { pageName, plain } from "../../core/plaintext";
import type { States } from "../../core/window/store";
import { make, setText, type View } from "./list";

/** Of the place for a picture: its width for a height of 1, however tall a page is. */
const tallest = 1.3;
/** In ms, between two frames, and until a page that could not be shown is tried again. */
const interval = 80;
const retryAfter = 5_000;
const lastErrors = 3;

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) pictures.get(target)?.see(isIntersecting);
});
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) pictures.get(target.parentElement as Element)?.resize();
});
const pictures = new Map<Element, Picture>();
document.addEventListener("visibilitychange", followAll);

function followAll(): void {
  for (const picture of pictures.values()) picture.follow();
}

/**
 * The id of the page that the live view films. Its picture here has the same frames, so that no page
 * is filmed twice.
 */
let mirrored = "";

export const mirror = {
  /** The live view films another page; without one it films none. */
  turn(page = ""): void {
    if (page === mirrored) return;
    mirrored = page;
    followAll();
    for (const picture of pictures.values()) picture.mark();
    this.picture?.renew();
  },
  /** The picture of that page. */
  get picture(): Picture | undefined {
    return [...pictures.values()].find(({ isMirrored }) => isMirrored);
  },
};

export class Picture implements View<Page> {
  readonly element: HTMLElement;
  readonly #canvas = make("canvas", { width: 0, height: 0, ariaHidden: "true" });
  readonly #why = make("span", { className: "why" });
  readonly #title = make("span", { className: "title" });
  readonly #url = make("span", { className: "url" });
  readonly #errors = make("details", { className: "errors", hidden: true });
  readonly #count = make("summary", {});
  readonly #texts = make("ul", {});
  readonly #open: HTMLButtonElement;
  readonly #close: HTMLButtonElement;
  #inSight = false;
  #key = "";
  #abort: AbortController | undefined;
  #cast: Screencast | undefined;
  #thrown: string[] = [];
  #total = 0;
  #renewing = false;

  constructor(
    private page: Page,
    private readonly states: States,
    open: (page: Page, from: HTMLElement) => void,
    /** How the user closes a tab; none: here the user does not. */
    private readonly closing: () => ((page: Page) => void) | undefined,
  ) {
    this.#open = make("button", { type: "button", className: "picture" }, this.#canvas, this.#why);
    this.#open.addEventListener("click", () => open(this.page, this.#open));
    this.#close = make("button", { type: "button", className: "tool" }, "×");
    this.#close.addEventListener("click", () => closing()?.(this.page));
    this.#errors.append(this.#count, this.#texts);
    const name = make("div", { className: "name" }, this.#title, this.#url);
    const caption = make("div", { className: "caption" }, name, this.#close);
    this.element = make("li", { className: "page" }, this.#open, caption, this.#errors);
    pictures.set(this.element, this);
    sight.observe(this.element);
    sizes.observe(this.#open);
  }

  get isMirrored(): boolean {
    return this.page.id === mirrored;
  }

  /** What the console has is reported again. Until it is, the errors from before stay in sight. */
  renew(): void {
    this.#renewing = true;
  }

  /** Shows whether the live view shows the page. */
  mark(): void {
    if (this.isMirrored) this.#open.ariaCurrent = "true";
    else this.#open.removeAttribute("aria-current");
  }

  update(page: Page): void {
    this.page = page;
    this.mark();
    const title = pageName(page) || l10n.t("A page without a title");
    setText(this.#title, title);
    this.#title.title = title;
    setText(this.#url, plain(page.url.replace(/^https?:\/\//, ""), 200));
    this.#url.title = plain(page.url, 1_000);
    this.#label();
    this.#close.title = this.#close.ariaLabel = l10n.t("Close the Tab {0}", title);
    this.#close.hidden = this.states.state.browser === null || !this.closing();
    this.follow();
  }

  see(inSight: boolean): void {
    this.#inSight = inSight;
    this.follow();
  }

  /** Films the page while the user can see it. */
  follow(): void {
    const { browser, pages } = this.states.state;
    const url = browser?.url ?? pages.find(({ debugSession }) => debugSession === this.page.id)?.url ?? "";
    const key = this.#inSight && !document.hidden && !this.isMirrored ? url : "";
    if (key === this.#key) return;
    this.#key = key;
    this.#abort?.abort();
    this.#abort = undefined;
    if (key === "") return;
    this.#abort = new AbortController();
    void this.#film(this.#abort.signal);
  }

  close(): void {
    sight.unobserve(this.element);
    sizes.unobserve(this.#open);
    pictures.delete(this.element);
    this.#key = "";
    this.#abort?.abort();
  }

  /** The place for the picture, in pixels of the screen: the browser keeps the page's proportions. */
  get #size() {
    const { clientWidth, clientHeight } = this.#open;
    const pixels = (length: number) => Math.max(160, Math.round(length * devicePixelRatio));
    return { width: pixels(clientWidth), height: pixels(clientHeight) };
  }

  resize(): void {
    void this.#cast?.resize(this.#size).catch(() => {}); // it has gone
  }

  async #film(signal: AbortSignal): Promise<void> {
    const watcher: Watcher = {
      frame: async (data) => {
        const pause = new Promise((resolve) => setTimeout(resolve, interval));
        if (!signal.aborted) await this.draw(data);
        await pause;
      },
      click: () => {},
      dialog: (dialog) => signal.aborted || this.showDialog(dialog),
      error: (text) => signal.aborted || this.note(text),
    };
    this.renew();
    try {
      const cast = await Screencast.start(this.states.state, this.page.id, this.#size, watcher, signal);
      signal.throwIfAborted();
      this.#cast = cast;
      if (this.#renewing) this.note();
      this.#say("");
      await cast.closed;
      await cast.close();
      if (signal.aborted) return;
      this.#say(l10n.t("The page is no longer shown."));
    } catch (error) {
      if (signal.aborted) return;
      this.#say(
        error instanceof NoResponse
          ? l10n.t("The page does not respond. It may be paused at a breakpoint.")
          : l10n.t("The page cannot be shown: {0}.", plain(reason(error), 120)),
      );
    }
    setTimeout(() => {
      if (signal.aborted) return;
      this.#key = "";
      this.follow();
    }, retryAfter);
  }

  showDialog(dialog?: { text: string }): void {
    this.#say(dialog ? l10n.t("The page shows a dialog: {0}", plain(dialog.text, 80)) : "");
  }

  #say(text: string): void {
    setText(this.#why, text);
    this.#why.hidden = text === "";
    this.#label();
  }

  /** The name of the button has all the text that is on it. */
  #label(): void {
    const label = l10n.t("Open {0}", this.#title.textContent ?? "");
    const why = this.#why.textContent;
    this.#open.ariaLabel = why ? `${label}. ${why}` : label;
  }

  async draw(data: Uint8Array): Promise<void> {
    const picture = await createImageBitmap(new Blob([new Uint8Array(data)], { type: "image/jpeg" }));
    this.#canvas.width = picture.width;
    this.#canvas.height = picture.height;
    this.#canvas.getContext("2d")?.drawImage(picture, 0, 0);
    this.#open.style.aspectRatio = `${Math.max(picture.width / picture.height, tallest)}`;
    picture.close();
  }

  /** An error in the console; without one, another document is shown. */
  note(text?: string): void {
    if (this.#renewing) {
      this.#renewing = false;
      this.note();
    }
    this.#total = text === undefined ? 0 : this.#total + 1;
    this.#thrown = text === undefined ? [] : [...this.#thrown, plain(text, 300)].slice(-lastErrors);
    this.#errors.hidden = this.#total === 0;
    setText(this.#count, this.#total === 1 ? l10n.t("1 error") : l10n.t("{0} errors", this.#total));
    this.#texts.replaceChildren(...this.#thrown.map((textContent) => make("li", { textContent })));
  }
}
