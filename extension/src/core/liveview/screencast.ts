// One page, filmed: its frames as they are painted, and where it is clicked. The user's own input goes back.
//
//     const cast = await Screencast.start(state, page, size, { frame, click }, signal);
//     await cast.mouse({ type: "mouseMoved", x: 0.5, y: 0.5 });
//     cast.close();
//
// A browser-level endpoint gives the page its own session. Where there is only js-debug's shared
// CDP, the page's endpoint is js-debug's own session: it gets only the events that it enables, and
// nothing that js-debug needs is disabled in it.
import { whenAborted } from "../abort";
import { Cdp, type Members, NoResponse } from "../browser/cdp";
import type { State } from "../protocol/protocol.generated";
import type { Device } from "./device";
import type { Size } from "./element";

/** The part of a page that is in sight, in device-independent pixels. */
export interface Seen extends Size {
  /** Of the document, how far it is scrolled. */
  left: number;
  top: number;
  /** How far it is pinched. */
  scale: number;
}

export interface Watcher {
  /** A JPEG, and what it shows. The next one comes only when this one's promise is settled. */
  frame(data: Uint8Array, page: Seen): Promise<void>;
  /** What the last frame shows is measured: places in the picture are known. */
  measured?(): void;
  /** A click, as parts of the picture's width and height; `own` is one that `mouse` has sent. */
  click(x: number, y: number, own: boolean): void;
  /** The page shows a dialog, and does nothing else until it is answered; without one it no longer does. */
  dialog(dialog?: PageDialog): void;
  /** An error in the page's console; without one, another document is shown. */
  error?(text?: string): void;
  /** Where the page is in its history now. */
  place?(place: HistoryPlace): void;
  /** The device whose size the page has by `emulate`; none: it has another size. */
  device?(device?: Device): void;
}

/** An address that the page has been at, and whether there is another one before and after it. */
export interface HistoryPlace {
  url: string;
  back: boolean;
  forward: boolean;
}

/** A dialog of the page's script. */
export interface PageDialog {
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  text: string;
  /** What a prompt's field has at first. */
  value: string;
}

/** A mouse event, as CDP has it; its place in parts of the picture's width and height. */
export interface MouseInput {
  type: "mouseMoved" | "mousePressed" | "mouseReleased" | "mouseWheel";
  x: number;
  y: number;
  [more: string]: unknown;
}

/** A key event, as CDP has it. */
export interface KeyInput {
  type: "keyDown" | "rawKeyDown" | "keyUp";
  key: string;
  [more: string]: unknown;
}

/** The isolated world of the live view in a document. */
export const world = "browserCoordinatorLiveView";
const quality = 70;
const off = { enabled: false };

/** How long after a press of ours its click may be reported, in ms, and how far from it, in parts of the picture. */
const ownClick = { time: 2_000, distance: 0.02 };

/** Of a frame: what it shows, in pixels that do not depend on the screen. */
interface FrameMetadata {
  deviceWidth: number;
  deviceHeight: number;
  pageScaleFactor: number;
  scrollOffsetX: number;
  scrollOffsetY: number;
}

/** Runs in an isolated world of each frame, where the page cannot see it. It draws nothing. */
function watchClicks(name: string): void {
  const window = globalThis as unknown as ClickWindow;
  const watcher = `${name} watches`;
  window[watcher] ??= ({ isTrusted, clientX, clientY }: PointerDown) => {
    const report = window[name];
    if (!isTrusted || typeof report !== "function") return;
    let [x, y, frame] = [clientX, clientY, window];
    // A frame's position is known while it is of the same origin as the one around it.
    while (frame !== frame.parent) {
      const element = frame.frameElement;
      if (!element) return;
      // It may be transformed, zoomed and padded.
      const box = element.getBoundingClientRect();
      const style = window.getComputedStyle(element);
      const [left, top] = [Number.parseFloat(style.paddingLeft), Number.parseFloat(style.paddingTop)];
      const width = element.clientWidth - left - Number.parseFloat(style.paddingRight);
      const height = element.clientHeight - top - Number.parseFloat(style.paddingBottom);
      const [inX, inY] = [(x * width) / frame.innerWidth, (y * height) / frame.innerHeight];
      x = box.x + (element.clientLeft + left + inX) * (box.width / element.offsetWidth);
      y = box.y + (element.clientTop + top + inY) * (box.height / element.offsetHeight);
      frame = frame.parent;
    }
    // Of the page's layout only a part may be in sight: pinched, or wider than its phone.
    const { offsetLeft, offsetTop, scale } = frame.visualViewport;
    report(JSON.stringify([(x - offsetLeft) * scale, (y - offsetTop) * scale]));
  };
  // The same one again is no second one.
  window.addEventListener("pointerdown", window[watcher] as (event: PointerDown) => void, {
    capture: true,
    passive: true,
  });
}

interface ClickWindow {
  [name: string]: unknown;
  parent: ClickWindow;
  frameElement: FrameElement | null;
  innerWidth: number;
  innerHeight: number;
  visualViewport: { offsetLeft: number; offsetTop: number; scale: number };
  getComputedStyle(element: FrameElement): Record<`padding${"Left" | "Top" | "Right" | "Bottom"}`, string>;
  addEventListener(type: string, listener: (event: PointerDown) => void, options: object): void;
}

interface PointerDown {
  isTrusted: boolean;
  clientX: number;
  clientY: number;
}

interface FrameElement {
  clientLeft: number;
  clientTop: number;
  clientWidth: number;
  clientHeight: number;
  offsetWidth: number;
  offsetHeight: number;
  getBoundingClientRect(): { x: number; y: number; width: number; height: number };
}

/** Of Page.getNavigationHistory. */
interface NavigationHistory {
  currentIndex: number;
  entries: { id: number; url: string }[];
}

const events = [
  "Page.screencastFrame",
  "Page.screencastVisibilityChanged",
  "Page.documentOpened",
  "Page.frameNavigated",
  "Page.navigatedWithinDocument",
  "Page.loadEventFired",
  "Page.javascriptDialogOpening",
  "Page.javascriptDialogClosed",
  "Runtime.bindingCalled",
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
  "Runtime.executionContextsCleared",
];

export class Screencast {
  private constructor(
    readonly cdp: Cdp,
    private readonly page: string,
    private readonly session: string | undefined,
  ) {}

  /** That watches for clicks in documents to come. */
  #script: unknown;
  /** One step at a time, so that no script is left behind. */
  #watching = Promise.resolve();
  /** What the last frame shows, in the page's own pixels before any pinch. */
  #viewport: Size | undefined;
  /** The last press of ours, whose click has not been reported yet. */
  #pressed: { x: number; y: number; time: number } | undefined;
  /** How far the page is pinched. */
  #pinch = 1;
  #size: Size = { width: 0, height: 0 };
  /** Settled when the size is applied; undefined: it is. */
  #sizing: Promise<void> | undefined;
  /** Frames that the watcher has not drawn yet. */
  #undrawn = 0;
  /** The device whose size the page was given. */
  #device: Device | undefined;
  /** The session that has set it. */
  #deviceSession: string | undefined;
  /** Another client has set another size, or ended this one. */
  #replaced = false;
  /** Settled when the last change of the page's size is done. */
  #resized: Promise<unknown> = Promise.resolve();
  /** How often the page's size has been changed here. */
  #resizes = 0;
  /** A part of the page is captured, and frames show that instead of the page. */
  #capturing = false;
  /** One at a time. */
  #captures: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** The browser may have left frames out, and does not make up for them. */
  #leftOut = false;
  #watcher: Watcher | undefined;
  /** How often the page has moved in its history since the last time that was read to its end. */
  #moves = 0;

  /** `page` is a target of the browser, or a debug session where there is only its endpoint. */
  static async start(
    state: State,
    page: string,
    size: Size,
    watcher: Watcher,
    signal: AbortSignal,
  ): Promise<Screencast> {
    const own = state.pages.find(({ debugSession }) => debugSession === page)?.url;
    const url = state.browser?.url ?? own;
    if (url === undefined) throw new Error("the page has no endpoint");
    const cdp = await Cdp.connect(url, signal);
    try {
      let session: string | undefined;
      if (state.browser) {
        const { sessionId } = await cdp.call("Target.attachToTarget", { targetId: page, flatten: true });
        session = String(sessionId);
      } else await cdp.call("JsDebug.subscribe", { events });
      const cast = new Screencast(cdp, page, session);
      try {
        cast.#listen(watcher);
        signal.throwIfAborted();
        await cdp.call("Page.enable", {}, session);
        signal.throwIfAborted();
        await cast.#watchClicks();
        signal.throwIfAborted();
        await cast.resize(size);
        signal.throwIfAborted();
      } catch (error) {
        await cast.close();
        throw error;
      }
      whenAborted(signal, () => void cast.close());
      return cast;
    } catch (error) {
      cdp.close();
      throw error;
    }
  }

  /** Settles when the page or its browser is gone. */
  get closed(): Promise<void> {
    const detached = new Promise<void>((resolve) => {
      this.cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
        if (sessionId === this.session) resolve();
      });
    });
    return Promise.race([this.cdp.closed, detached]);
  }

  /** Frames are not larger than this from now on. While one size is applied, of those that come the last one is next. */
  async resize(size: Size): Promise<void> {
    this.#size = size;
    this.#sizing ??= this.#applySize();
    await this.#sizing;
  }

  async #applySize(): Promise<void> {
    try {
      for (let applied: Size | undefined; applied !== this.#size && !this.#closed; ) {
        applied = this.#size;
        await this.#start();
      }
    } finally {
      this.#sizing = undefined;
    }
  }

  /** From the beginning: the browser sends a first frame, and refuses to start what has not been stopped. */
  async #start(): Promise<void> {
    await this.cdp.call("Page.stopScreencast", {}, this.session);
    if (this.#closed) return;
    const { width, height } = this.#size;
    const params = { format: "jpeg", quality, maxWidth: width, maxHeight: height };
    await this.cdp.call("Page.startScreencast", params, this.session);
  }

  /** Opens an address. */
  async navigate(url: string): Promise<void> {
    await this.cdp.call("Page.navigate", { url }, this.session);
  }

  /** Goes one back in the page's history, or one forward; nowhere at its end. */
  async go(by: -1 | 1): Promise<void> {
    const { currentIndex, entries } = await this.#history();
    const entry = entries[currentIndex + by];
    if (entry) await this.cdp.call("Page.navigateToHistoryEntry", { entryId: entry.id }, this.session);
  }

  /** Runs what captures a part of the page: the frames of that moment are left out. */
  capture<T>(work: () => Promise<T>): Promise<T> {
    const captured = this.#captures.then(() => this.#capture(work));
    this.#captures = captured.catch(() => {});
    return captured;
  }

  async #capture<T>(work: () => Promise<T>): Promise<T> {
    this.#capturing = true;
    try {
      return await work();
    } finally {
      // Whatever becomes of this, frames are drawn again: the browser waits for that.
      await this.cdp.call("Page.stopScreencast", {}, this.session).catch(() => {});
      this.#capturing = false;
      void this.#restart();
    }
  }

  /** Starts as soon as a page that has not responded does. One that has gone does not. */
  async #restart(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      if (error instanceof NoResponse) await this.#restart();
    }
  }

  /** Gives the page a device's size, or that of its window again. Frames of the size before are left out. */
  emulate(device?: Device): Promise<void> {
    this.#resizes += 1;
    const resizes = this.#resizes;
    const resized = this.capture(async () => {
      if (resizes !== this.#resizes) return; // the user has chosen another one meanwhile
      try {
        await this.#emulate(device);
      } finally {
        if (resizes === this.#resizes) this.#watcher?.device?.(this.#device);
      }
    });
    this.#resized = resized.catch(() => {});
    return resized;
  }

  /**
   * The browser applies the size that was set last. In a new document it applies that of each session again, in the
   * order in which they were attached. So each one that follows another client's is set in a new session.
   */
  async #emulate(device?: Device): Promise<void> {
    this.#viewport = this.#device = undefined;
    if (this.#deviceSession && (this.#replaced || !device)) {
      const ended = this.#deviceSession;
      this.#deviceSession = undefined;
      this.#replaced = false;
      await this.cdp.call("Target.detachFromTarget", { sessionId: ended }); // which resets the page for all clients
    }
    if (!device) return;
    if (this.#deviceSession === undefined) {
      const { sessionId } = await this.cdp.call("Target.attachToTarget", { targetId: this.page, flatten: true });
      this.#deviceSession = String(sessionId);
    }
    const { cssVisualViewport } = await this.call("Page.getLayoutMetrics");
    const { zoom = 1 } = cssVisualViewport as Measured;
    const metrics = {
      width: Math.round(device.width * zoom),
      height: Math.round(device.height * zoom),
      deviceScaleFactor: device.scale / zoom,
      mobile: device.mobile,
    };
    await this.cdp.call("Emulation.setDeviceMetricsOverride", metrics, this.#deviceSession);
    await this.cdp.call("Emulation.setTouchEmulationEnabled", { enabled: device.mobile }, this.#deviceSession);
    this.#device = device;
    this.#viewport = { width: device.width, height: device.height };
    this.#pinch = 1;
  }

  async reload(): Promise<void> {
    await this.cdp.call("Page.reload", {}, this.session);
  }

  /** Sends it to the page, where the user sees its place. */
  async mouse(event: MouseInput): Promise<void> {
    await this.#resized;
    const viewport = this.#viewport;
    if (!viewport) return; // there is no picture yet
    const [x, y] = [(event.x * viewport.width) / this.#pinch, (event.y * viewport.height) / this.#pinch];
    if (event.type === "mousePressed") this.#pressed = { x: event.x, y: event.y, time: performance.now() };
    await this.cdp.call("Input.dispatchMouseEvent", { ...event, x, y }, this.session);
  }

  /** Answers the dialog that the page shows. */
  async answerDialog(accept: boolean, promptText: string): Promise<void> {
    await this.cdp.call("Page.handleJavaScriptDialog", { accept, promptText }, this.session);
  }

  async key(event: KeyInput): Promise<void> {
    await this.#resized; // as the mouse before it
    await this.cdp.call("Input.dispatchKeyEvent", { ...event }, this.session);
  }

  /** What the last frame shows, in the page's own pixels before any pinch; undefined before the first. */
  get viewport(): Size | undefined {
    return this.#viewport;
  }

  /** Asks the browser about the page. */
  readonly call = (method: string, params: Members = {}): Promise<Members> =>
    this.cdp.call(method, params, this.session);

  /** Ends it, and all that it brought about. */
  async close(): Promise<void> {
    this.#closed = true;
    // js-debug's session stays when we leave; our own ends, and what it turned on with it.
    if (this.session === undefined) {
      await this.#watching;
      await Promise.allSettled([
        this.cdp.call("Page.stopScreencast"),
        this.cdp.call("Emulation.setFocusEmulationEnabled", off),
        this.cdp.call("Runtime.removeBinding", { name: world }),
        this.cdp.call("Page.removeScriptToEvaluateOnNewDocument", { identifier: this.#script }),
      ]);
    }
    this.cdp.close();
  }

  /** A page in the background of its browser paints nothing. This one is visible: here. */
  async #unhide(): Promise<void> {
    await this.cdp.call("Emulation.setFocusEmulationEnabled", { enabled: true }, this.session).catch(() => {});
  }

  #listen(watcher: Watcher): void {
    this.#watcher = watcher;
    this.cdp.on("Page.screencastFrame", ({ data, sessionId, metadata }) => {
      if (this.#capturing) return; // the screencast begins again
      void this.#measure(metadata as FrameMetadata);
      void this.#frame(watcher, String(data), metadata as FrameMetadata, sessionId);
    });
    this.cdp.on("Page.frameResized", () => void (this.#device && this.#measure()));
    this.cdp.on("Page.screencastVisibilityChanged", ({ visible }) => void (visible === false && this.#unhide()));
    // A document that was written again has lost its listeners.
    this.cdp.on("Page.documentOpened", () => {
      this.#watching = this.#watching.then(() => this.#watchDocuments()).catch(() => {});
    });
    for (const event of ["Page.frameNavigated", "Page.navigatedWithinDocument", "Page.loadEventFired"]) {
      this.cdp.on(event, () => void this.readPlace());
    }
    this.cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
      const point = name === world && this.#viewport ? place(payload, this.#viewport) : undefined;
      if (point) watcher.click(...point, this.#isOwn(...point));
    });
    this.cdp.on("Page.javascriptDialogOpening", ({ type, message, defaultPrompt }) =>
      watcher.dialog({ kind: type as PageDialog["kind"], text: String(message), value: String(defaultPrompt ?? "") }),
    );
    this.cdp.on("Page.javascriptDialogClosed", () => watcher.dialog());
    this.cdp.on("Runtime.exceptionThrown", ({ exceptionDetails }) => watcher.error?.(thrown(exceptionDetails)));
    this.cdp.on("Runtime.consoleAPICalled", ({ type, args }) => type === "error" && watcher.error?.(logged(args)));
    this.cdp.on("Runtime.executionContextsCleared", () => watcher.error?.());
  }

  async #history(): Promise<NavigationHistory> {
    const history = await this.cdp.call("Page.getNavigationHistory", {}, this.session);
    return history as unknown as NavigationHistory;
  }

  /**
   * Reports to the watcher where the page is in its history: once at a time, however often it moves. The browser may
   * know of a move only after the page reports it, and then has an error or the place before.
   */
  async readPlace(): Promise<void> {
    const watcher = this.#watcher;
    this.#moves += 1;
    if (!watcher?.place || this.#moves > 1) return;
    for (let seen = 0; seen < this.#moves; ) {
      seen = this.#moves;
      try {
        const { currentIndex: index, entries } = await this.#history();
        watcher.place({ url: entries[index]?.url ?? "", back: index > 0, forward: index < entries.length - 1 });
      } catch {} // it has gone, or is a tab of the user's own browser, whose history nobody reads
    }
    this.#moves = 0;
  }

  /** Whether a click is that of the last press of ours. */
  #isOwn(x: number, y: number): boolean {
    const pressed = this.#pressed;
    if (!pressed || performance.now() - pressed.time > ownClick.time) return false;
    if (Math.hypot(x - pressed.x, y - pressed.y) > ownClick.distance) return false;
    this.#pressed = undefined;
    return true;
  }

  async #frame(watcher: Watcher, data: string, shown: FrameMetadata, number: unknown): Promise<void> {
    const page = {
      width: shown.deviceWidth,
      height: shown.deviceHeight,
      left: shown.scrollOffsetX,
      top: shown.scrollOffsetY,
      scale: shown.pageScaleFactor,
    };
    this.#undrawn += 1;
    this.#leftOut ||= this.#undrawn > 1;
    await watcher.frame(new Uint8Array(Buffer.from(data, "base64")), page); // a Buffer is no message for a panel
    this.#undrawn -= 1;
    try {
      // Without an answer the browser sends no more than three.
      await this.cdp.call("Page.screencastFrameAck", { sessionId: number }, this.session);
      if (!this.#leftOut || this.#undrawn > 0) return;
      this.#leftOut = false;
      await this.#start();
    } catch {} // it has gone
  }

  /**
   * With each frame, since there is no event for the user's zoom, and a page that shows a dialog does not answer. A
   * page without a content has no frame of its new size.
   */
  async #measure(frame?: FrameMetadata): Promise<void> {
    const resizes = this.#resizes;
    try {
      const { cssVisualViewport } = await this.cdp.call("Page.getLayoutMetrics", {}, this.session);
      if (resizes !== this.#resizes) return; // the frame is from before
      const { zoom = 1, scale, clientWidth, clientHeight } = cssVisualViewport as Measured;
      const device = this.#device;
      if (device) this.#compare(device, { width: clientWidth * scale, height: clientHeight * scale });
      if (!frame) return;
      const viewport = { width: frame.deviceWidth / zoom, height: frame.deviceHeight / zoom };
      if (device && !this.#replaced && !isLike(viewport, device, 1)) return; // the frame is from before
      this.#viewport = viewport;
      this.#pinch = frame.pageScaleFactor;
      this.#watcher?.measured?.();
    } catch {} // it has gone
  }

  /** Reports when the page no longer has the size of its device, and when it has it again. */
  #compare(device: Device, size: Size): void {
    const isReplaced = !isLike(size, device, scrollbar);
    if (isReplaced === this.#replaced) return;
    this.#replaced = isReplaced;
    this.#watcher?.device?.(isReplaced ? undefined : device);
  }

  async #watchClicks(): Promise<void> {
    // Binding events need this, which also sends the console events.
    await this.cdp.call("Runtime.enable", {}, this.session);
    await this.cdp.call("Runtime.addBinding", { name: world, executionContextName: world }, this.session);
    await this.#watchDocuments();
  }

  /** Those that exist, and those to come. */
  async #watchDocuments(): Promise<void> {
    const before = this.#script;
    const source = `(${watchClicks})(${JSON.stringify(world)})`;
    const script = { source, worldName: world, runImmediately: true };
    const add = this.cdp.call("Page.addScriptToEvaluateOnNewDocument", script, this.session);
    const added = await add.catch((error: unknown) => {
      if (error instanceof NoResponse) throw error;
    });
    if (!added) return; // in a tab that the user has handed over clicks are not marked
    const { identifier } = added;
    this.#script = identifier;
    if (before === undefined) return;
    await this.cdp.call("Page.removeScriptToEvaluateOnNewDocument", { identifier: before }, this.session);
  }
}

/** Of Page.getLayoutMetrics: what is in sight, without scroll bars. */
interface Measured {
  clientWidth: number;
  clientHeight: number;
  scale: number;
  zoom?: number;
}

/** The largest width of a scroll bar. */
const scrollbar = 20;

/** Whether a size is another one, or smaller by less than this. */
function isLike(size: Size, other: Size, less: number): boolean {
  const isNear = (length: number, whole: number) => length < whole + 1 && length > whole - less;
  return isNear(size.width, other.width) && isNear(size.height, other.height);
}

/** The page is not trusted: what is no place in the picture is no click. */
function place(payload: unknown, { width, height }: Size): [number, number] | undefined {
  try {
    const [left, top] = JSON.parse(String(payload)) as [unknown, unknown];
    const [x, y] = [Number(left) / width, Number(top) / height];
    const isFraction = (part: number) => part >= 0 && part <= 1;
    return isFraction(x) && isFraction(y) ? [x, y] : undefined;
  } catch {
    return undefined;
  }
}

interface RemoteValue {
  value?: unknown;
  description?: string;
}

/** As the console shows it: `Uncaught Error: no loaf left`. */
function thrown(details: unknown): string {
  const { text, exception } = details as { text: string; exception?: RemoteValue };
  return exception ? `${text} ${logged([exception])}` : text;
}

function logged(args: unknown): string {
  return (args as RemoteValue[]).map(({ value, description }) => String(description ?? value)).join(" ");
}
