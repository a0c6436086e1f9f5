// One page, filmed: its frames as they are painted, and where it is clicked.
//
//     const cast = await Screencast.start(state, page, size, { frame, click }, signal);
//     …
//     cast.close();
//
// A browser-level endpoint gives the page a session of its own. Where there is only js-debug's shared
// CDP, the page's endpoint is js-debug's own session: it tells of no event that it is not asked for, and
// nothing is turned off in it that js-debug needs.
import { Cdp } from "./cdp";
import type { State } from "./protocol.generated";

export interface Size {
  width: number;
  height: number;
}

export interface Watcher {
  /** A JPEG. The next one comes only when this one's promise is settled. */
  frame(data: Uint8Array): Promise<void>;
  /** A click, as parts of the picture's width and height. */
  click(x: number, y: number): void;
}

const world = "browserCoordinatorLiveView";
const quality = 70;
const off = { enabled: false };

/** Runs in an isolated world of each frame, where the page cannot see it. It draws nothing. */
function watchClicks(name: string): void {
  const window = globalThis as unknown as ClickWindow;
  const watched = `${name} watches`;
  if (window[watched]) return; // since this page was looked at before
  window[watched] = true;
  window.addEventListener(
    "pointerdown",
    ({ isTrusted, clientX, clientY }) => {
      const tell = window[name];
      if (!isTrusted || typeof tell !== "function") return;
      let [x, y, frame] = [clientX, clientY, window];
      // A frame's position is known while it is of the same origin as the one around it.
      while (frame !== frame.parent) {
        const element = frame.frameElement;
        if (!element) return;
        const box = element.getBoundingClientRect();
        x += box.x + element.clientLeft;
        y += box.y + element.clientTop;
        frame = frame.parent;
      }
      tell(JSON.stringify([x / frame.innerWidth, y / frame.innerHeight]));
    },
    { capture: true, passive: true },
  );
}

interface ClickWindow {
  [name: string]: unknown;
  parent: ClickWindow;
  frameElement: { clientLeft: number; clientTop: number; getBoundingClientRect(): { x: number; y: number } } | null;
  innerWidth: number;
  innerHeight: number;
  addEventListener(
    type: string,
    listener: (event: { isTrusted: boolean; clientX: number; clientY: number }) => void,
    options: object,
  ): void;
}

const events = ["Page.screencastFrame", "Page.screencastVisibilityChanged", "Runtime.bindingCalled"];

export class Screencast {
  private constructor(
    readonly cdp: Cdp,
    private readonly session: string | undefined,
  ) {}

  /** That watches for clicks in documents to come. */
  #script: unknown;

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
      const cast = new Screencast(cdp, session);
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
      signal.addEventListener("abort", () => void cast.close());
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

  /** Frames are not larger than this from now on. */
  async resize({ width, height }: Size): Promise<void> {
    const params = { format: "jpeg", quality, maxWidth: width, maxHeight: height };
    await this.cdp.call("Page.startScreencast", params, this.session);
  }

  /** Ends it, and all that it brought about. */
  async close(): Promise<void> {
    // js-debug's session stays when we leave; our own ends, and what it turned on with it.
    if (this.session === undefined) {
      await Promise.allSettled([
        this.cdp.call("Page.stopScreencast"),
        this.cdp.call("Emulation.setFocusEmulationEnabled", off),
        this.cdp.call("Runtime.removeBinding", { name: world }),
        this.cdp.call("Page.removeScriptToEvaluateOnNewDocument", { identifier: this.#script }),
      ]);
    }
    this.cdp.close();
  }

  /** A page in the background of its browser paints nothing. This one is looked at: here. */
  async #unhide(): Promise<void> {
    await this.cdp.call("Emulation.setFocusEmulationEnabled", { enabled: true }, this.session).catch(() => {});
  }

  #listen(watcher: Watcher): void {
    this.cdp.on("Page.screencastFrame", ({ data, sessionId }) => void this.#frame(watcher, String(data), sessionId));
    this.cdp.on("Page.screencastVisibilityChanged", ({ visible }) => void (visible === false && this.#unhide()));
    this.cdp.on("Runtime.bindingCalled", ({ name, payload }) => {
      const at = name === world ? place(payload) : undefined;
      if (at) watcher.click(...at);
    });
  }

  async #frame(watcher: Watcher, data: string, number: unknown): Promise<void> {
    await watcher.frame(new Uint8Array(Buffer.from(data, "base64"))); // a Buffer is no message for a panel
    // Without an answer the browser sends no more than two; it may be gone by now.
    await this.cdp.call("Page.screencastFrameAck", { sessionId: number }, this.session).catch(() => {});
  }

  async #watchClicks(): Promise<void> {
    // Bindings are told of only where this is on, and the runtime tells us its console too.
    await this.cdp.call("Runtime.enable", {}, this.session);
    await this.cdp.call("Runtime.addBinding", { name: world, executionContextName: world }, this.session);
    const source = `(${watchClicks})(${JSON.stringify(world)})`;
    const script = { source, worldName: world, runImmediately: true };
    const { identifier } = await this.cdp.call("Page.addScriptToEvaluateOnNewDocument", script, this.session);
    this.#script = identifier;
  }
}

/** The page is not trusted: what is no place in the picture is no click. */
function place(payload: unknown): [number, number] | undefined {
  try {
    const [x, y] = JSON.parse(String(payload)) as [unknown, unknown];
    const inside = (part: unknown): part is number => typeof part === "number" && part >= 0 && part <= 1;
    return inside(x) && inside(y) ? [x, y] : undefined;
  } catch {
    return undefined;
  }
}
