// The live view of a real Chromium. The panel is played here; the real one is in e2e/liveview.test.ts.
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Cdp, NoResponse } from "../../src/core/browser/cdp";
import { findEndpoint } from "../../src/core/browser/discovery";
import { Sessions } from "../../src/core/browser/sessions";
import { type Agents, LiveView, type Shown } from "../../src/core/liveview/liveview";
import { Screencast } from "../../src/core/liveview/screencast";
import { silent } from "../../src/core/log";
import type { AnnotatedNode } from "../../src/core/protocol/protocol.generated";
import { pause } from "../../src/core/sight";
import { Clients } from "../../src/core/window/clients";
import { Notes } from "../../src/core/window/notes";
import { Store } from "../../src/core/window/store";
import { endBrowser, launchBrowser } from "../support/browser";
import { hang } from "../support/hang";
import { Relay } from "../support/relay";
import { temporaryFolder } from "../support/window";

const size = { width: 800, height: 600 };

function play() {
  const store = new Store();
  const warn = vi.fn();
  const sessions = new Sessions(store, async () => undefined, silent);
  const clients = new Clients();
  const notes = new Notes(store, clients);
  let asked: AnnotatedNode[] = [];
  const agents: Agents = {
    get lastPage() {
      return clients.lastPage;
    },
    get asked() {
      return asked;
    },
    waiting: "",
    subscribe: (listener) => clients.subscribe(listener),
  };
  /** Agents ask to act on these. */
  const ask = (...nodes: AnnotatedNode[]) => {
    asked = nodes;
    clients.announce(new AbortController().signal, []);
  };
  const live = new LiveView(store, sessions, { ...silent, warn }, notes, agents);
  onTestFinished(() => {
    live.close();
    sessions.close();
  });
  const all: Shown[] = [];
  const wakes = new Set<() => void>();
  const show = (shown: Shown) => {
    all.push(shown);
    if (shown.type === "frame") live.drawn(shown.number);
    for (const wake of wakes) wake();
  };
  /** What was shown from `since` on, as soon as it fits. */
  const until = <T extends Shown["type"]>(
    type: T,
    fits: (shown: Extract<Shown, { type: T }>) => boolean = () => true,
    since = 0,
  ) =>
    new Promise<Extract<Shown, { type: T }>>((resolve) => {
      const look = () => {
        const found = all.slice(since).find((each) => each.type === type && fits(each as Extract<Shown, { type: T }>));
        if (!found) return;
        wakes.delete(look);
        resolve(found as Extract<Shown, { type: T }>);
      };
      wakes.add(look);
      look();
    });
  return { store, sessions, clients, notes, ask, live, warn, all, show, until };
}

/** The store's browser, by way of a relay. */
async function relayed(store: Store): Promise<Relay> {
  const url = new URL(store.state.browser?.url ?? "");
  const relay = await Relay.open(Number(url.port));
  onTestFinished(() => relay.close());
  url.port = `${relay.port}`;
  store.set({ browser: { url: url.href, via: "injected" } });
  return relay;
}

async function debugged(store: Store, preferences?: object) {
  const userDataDir = await temporaryFolder();
  if (preferences) {
    await mkdir(join(userDataDir, "Default"));
    await writeFile(join(userDataDir, "Default", "Preferences"), JSON.stringify(preferences));
  }
  const child = launchBrowser(userDataDir);
  const { url } = await findEndpoint({ via: "injected", userDataDir }, AbortSignal.timeout(hang));
  store.set({ browser: { url, via: "injected" } });
  const cdp = await Cdp.connect(url);
  onTestFinished(() => cdp.close());
  /** Opens a page, and answers its id and a session of it. */
  const open = async (html: string) => {
    const { targetId } = await cdp.call("Target.createTarget", { url: `data:text/html,${encodeURIComponent(html)}` });
    const { sessionId } = await cdp.call("Target.attachToTarget", { targetId, flatten: true });
    const session = String(sessionId);
    const scheme = async () => {
      const asked = cdp.call("Runtime.evaluate", { expression: "location.protocol" }, session);
      return ((await asked.catch(() => ({}))) as { result?: { value?: string } }).result?.value;
    };
    await expect.poll(scheme).toBe("data:"); // the first document is an empty one
    return { id: String(targetId), session };
  };
  return { child, cdp, open };
}

test("without a browser it shows what to do, with one it shows the page", async () => {
  const { store, live, show, until, all } = play();
  live.open(show, size);
  expect(await until("empty")).toMatchObject({ start: true, text: expect.stringContaining("Start one") });
  const { child, open } = await debugged(store);
  const { id } = await open("<title>Red</title><body style='background:red'>");
  expect((await until("pages", ({ current }) => current === id)).pages.length).toBeGreaterThan(0);
  const { data } = await until("frame");
  expect([...data.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]); // a JPEG
  const before = all.length;
  await endBrowser(child);
  store.set({ browser: null });
  await until("empty", ({ start }) => start, before);
});

test("it shows whether the user has taken over", async () => {
  const { store, live, show, until, all } = play();
  live.open(show, size);
  await until("takeover", ({ taken }) => !taken);
  store.set({ access: { ...store.state.access, takenOver: true } });
  await until("takeover", ({ taken }) => taken);
  const before = all.length;
  live.hide();
  live.open(show, size); // another page, which knows nothing yet
  await until("takeover", ({ taken }) => taken, before);
});

test("a browser that starts is not called unreachable; one without an endpoint is", async () => {
  const { sessions, live, show, until, all } = play();
  live.open(show, size);
  const launch = { id: "a", name: "Launch", type: "pwa-chrome", configuration: { request: "launch" } };
  sessions.started(launch);
  await until("empty", ({ text }) => text.includes("is starting"));
  sessions.started({ ...launch, id: "page", parent: launch }); // js-debug offers nothing for it
  await until("empty", ({ text }) => text.includes("cannot be reached. The log shows why"));
  const texts = all.flatMap((shown) => (shown.type === "empty" ? shown.text : []));
  expect(texts.map((text) => /starting|reached/.exec(text)?.[0])).toEqual([undefined, "starting", "reached"]);
});

/** Until it paints, the browser drops what is clicked. */
async function painted(cdp: Cdp, session: string): Promise<void> {
  const expression = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))";
  await cdp.call("Runtime.evaluate", { expression, awaitPromise: true }, session);
}

/** Until its document has come. */
async function loaded(cdp: Cdp, session: string): Promise<void> {
  const read = () => cdp.call("Runtime.evaluate", { expression: "location.protocol + document.readyState" }, session);
  await expect.poll(() => read().catch(() => {})).toMatchObject({ result: { value: "data:complete" } });
}

async function clickAt(cdp: Cdp, session: string, x: number, y: number): Promise<void> {
  for (const type of ["mousePressed", "mouseReleased"]) {
    await cdp.call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 }, session);
  }
}

test("a click is reported with its place, also in a frame and after a navigation", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const frame =
    "<iframe srcdoc='<button>b</button>' style='position:absolute;left:100px;top:100px;width:200px;height:200px'>";
  const { id, session } = await open(`<title>Clicks</title>${frame}`);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("frame");
  const { result } = (await cdp.call(
    "Runtime.evaluate",
    { expression: "[innerWidth, innerHeight]", returnByValue: true },
    session,
  )) as { result: { value: [number, number] } };
  const [width, height] = result.value;
  await painted(cdp, session);
  const click = async (x: number, y: number) => {
    const since = all.length;
    await clickAt(cdp, session, x, y);
    return until("click", () => true, since);
  };
  expect(await click(width / 2, height / 4)).toMatchObject({ x: 0.5, y: expect.closeTo(0.25, 2), own: false });
  const since = all.length;
  for (const type of ["mousePressed", "mouseReleased"] as const)
    live.mouse({ type, x: 0.5, y: 0.75, button: "left", clickCount: 1 });
  expect(await until("click", () => true, since)).toMatchObject({ own: true });
  const inFrame = await click(150, 150);
  expect(inFrame.x * width).toBeCloseTo(150, 0);
  expect(inFrame.y * height).toBeCloseTo(150, 0);
  await cdp.call("Page.navigate", { url: "data:text/html,<title>Other</title>" }, session);
  await until("pages", ({ pages }) => pages.some(({ title }) => title === "Other"));
  await painted(cdp, session);
  expect(await click(width / 4, height / 2)).toMatchObject({ x: 0.25 });
  const expression = "document.open(); document.write('<title>Written</title>'); document.close()";
  await cdp.call("Runtime.evaluate", { expression }, session); // which takes the listeners away
  await until("pages", ({ pages }) => pages.some(({ title }) => title === "Written"));
  await painted(cdp, session);
  expect(await click(width / 2, height / 2)).toMatchObject({ x: 0.5 });
  // The page cannot see who watches.
  const { result: seen } = (await cdp.call(
    "Runtime.evaluate",
    { expression: "Object.getOwnPropertyNames(globalThis).filter((name) => /coordinator/i.test(name)).length" },
    session,
  )) as { result: { value: number } };
  expect(seen.value).toBe(0);
});

test("a dialog of the page is shown, and the user answers it, when they can have read it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const { id, session } = await open("<title>Ask</title>");
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("frame");
  const evaluate = (expression: string) => cdp.call("Runtime.evaluate", { expression, returnByValue: true }, session);
  const next = async (since: number) => {
    const { dialog } = await until("dialog", (shown) => shown.dialog !== undefined, since);
    return dialog ?? { number: 0 };
  };
  const asked = evaluate("prompt('How many?', '2')");
  const first = await next(0);
  expect(first).toMatchObject({ kind: "prompt", text: "How many?", value: "2" });
  live.answerDialog(first.number, true, "9"); // a key that was meant for something else
  vi.advanceTimersByTime(pause);
  live.answerDialog(first.number, true, "3");
  let since = all.length;
  expect(await asked).toMatchObject({ result: { value: "3" } });
  await until("dialog", (shown) => shown.dialog === undefined, since);
  since = all.length;
  const sure = evaluate("confirm('Sure?')");
  const second = await next(since);
  expect(second).toMatchObject({ kind: "confirm", text: "Sure?" });
  vi.advanceTimersByTime(pause);
  live.answerDialog(first.number, true, ""); // the user has not read the second one
  live.answerDialog(second.number, false, "");
  expect(await sure).toMatchObject({ result: { value: false } });
});

test("what a page reports when another one is shown already is not shown", async () => {
  const { store, live, show, until, all } = play();
  const { open } = await debugged(store);
  const [first, second] = [await open("<title>First</title>"), await open("<title>Second</title>")];
  // The browser's events come by themselves; here one comes in the moment that matters.
  const starts = vi.spyOn(Screencast, "start").mockReturnValue(new Promise(() => {}));
  onTestFinished(() => starts.mockRestore());
  live.open(show, size);
  await until("pages", ({ pages }) => [first, second].every(({ id }) => pages.some((page) => page.id === id)));
  live.choose(first.id);
  const watcher = starts.mock.calls.at(-1)?.[3];
  live.choose(second.id);
  expect(starts.mock.calls.at(-1)?.[1]).toBe(second.id);
  const since = all.length;
  watcher?.click(0.5, 0.5, false);
  watcher?.dialog({ kind: "alert", text: "of the first page", value: "" });
  expect(all.slice(since)).toEqual([]);
});

test("the user's note about places in several pages goes to an agent", async () => {
  const { store, clients, notes, live, show, until, all } = play();
  const { open } = await debugged(store);
  const style = "<style>* { margin:0; border:0 } button { width:100vw; height:100vh }</style>";
  const other = await open("<title>Other</title>");
  const { id } = await open(`<title>Order</title>${style}<button id=order>Order</button>`);
  live.open(show, size);
  live.choose(id);
  await until("pages", ({ current, pages }) => current === id && pages.some(({ title }) => title === "Order"));
  await until("frame");
  const agent = { id: "a", name: "Agent", version: "1", kind: "mcp", since: 1 } as const;
  clients.announce(new AbortController().signal, [agent]);
  await until("draft", ({ recipients }) => recipients[0]?.name === "Agent 1");
  const element = 'button "Order" button#order';
  let since = all.length;
  await expect.poll(() => live.point(0.5, 0.5, true)).toBeDefined(); // once a frame has been measured
  expect(await until("draft", () => true, since)).toMatchObject({ places: [{ element, at: expect.anything() }] });
  live.discardNote();
  expect(await live.sendNote("a", "about nothing")).toBeUndefined();
  await live.point(0.5, 0.5, true);
  expect(await live.sendNote("b", "to nobody")).toBe(false);
  expect(await live.sendNote("a", "Blue.")).toBe(true);
  const annotation = { element, text: "", page: { title: "Order" }, node: { target: id } };
  expect(notes.take("a")).toMatchObject({ text: "Blue.", annotations: [annotation] });

  await live.point(0.5, 0.5, true);
  since = all.length;
  live.choose(other.id);
  const { places } = await until("draft", ({ places: [first] }) => first !== undefined && !first.at, since);
  live.comment(places[0]?.id ?? 0, "Larger.");
  await until("frame", () => true, since);
  await expect
    .poll(() => live.annotate([0.25, 0.25, 0.5, 0.5]).then(() => all.at(-1)))
    .toMatchObject({
      type: "draft",
      places: [
        { element, comment: "Larger." },
        { element: "", at: expect.anything() },
      ],
    });
  await live.annotate([0, 0, 0.5, 0.5]);
  live.remove(places[0]?.id ?? 0);
  for (let count = 0; count < 12; count += 1) await live.annotate([0, 0, 0.5, 0.5]);
  expect(await live.sendNote("a", "")).toBe(true);
  const note = notes.take("a");
  expect(note?.annotations).toHaveLength(10);
  expect(note?.annotations[0]).toMatchObject({ element: "", page: { title: "Other" }, picture: /^iVBOR/ });
});

test("a note is sent once, and no name in it is long", async () => {
  const { store, clients, notes, live, show, until } = play();
  const { open } = await debugged(store);
  const style = "<style>* { margin:0; border:0 } button { width:100vw; height:100vh }</style>";
  const { id } = await open(`<title>Long</title>${style}<button id=${"x".repeat(5_000)}>Order</button>`);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  clients.announce(new AbortController().signal, [{ id: "a", name: "Agent", version: "1", kind: "mcp", since: 1 }]);
  await expect.poll(() => live.point(0.5, 0.5, true)).toBeDefined(); // once a frame has been measured
  const { places } = await until("draft", ({ places }) => places.length === 1);
  expect(places[0]?.element).toHaveLength(300);
  expect(places[0]?.page.length).toBeLessThanOrEqual(2_000);
  expect(await Promise.all([live.sendNote("a", "Once."), live.sendNote("a", "Once.")])).toEqual([true, undefined]);
  expect(notes.take("a")).toMatchObject({ text: "Once." });
  expect(notes.take("a")).toBeUndefined();
});

const button = "<style>* { margin:0; border:0 } button { width:100vw; height:100vh }</style><button>Order</button>";

/** The live view of a page that is a button, an agent, and what is drawn there so far: nothing. */
async function drawable() {
  const view = play();
  const browser = await debugged(view.store);
  const { id, session } = await browser.open(`<title>Order</title>${button}`);
  view.live.open(view.show, size);
  await view.until("pages", ({ current }) => current === id);
  const agent = { id: "a", name: "Agent", version: "1", kind: "mcp", since: 1 } as const;
  view.clients.announce(new AbortController().signal, [agent]);
  await expect.poll(() => view.live.point(0.5, 0.5, false)).toBeDefined(); // once a frame has been measured
  const navigate = async () => {
    await browser.cdp.call("Page.navigate", { url: "data:text/html,<title>Next</title>" }, session);
    await loaded(browser.cdp, session);
  };
  return { ...view, ...browser, id, session, navigate };
}

test("a note that was sent does not come back when the page navigates meanwhile", async () => {
  const { notes, live, until, all, navigate } = await drawable();
  await live.annotate([0, 0, 0.5, 0.5]);
  // In the editor nothing comes between; a coordinator takes its time.
  let deliver = (_: boolean) => {};
  const sends = vi.spyOn(notes, "send").mockReturnValue(
    new Promise<boolean>((resolve) => {
      deliver = resolve;
    }) as never,
  );
  onTestFinished(() => sends.mockRestore());
  const sent = live.sendNote("a", "Larger.");
  const since = all.length;
  await navigate();
  await until("draft", ({ places: [first] }) => first !== undefined && !first.at, since);
  deliver(true);
  expect(await sent).toBe(true);
  expect(all.findLast(({ type }) => type === "draft")).toMatchObject({ places: [] });
});

test("a note has no picture of another document", async () => {
  const { notes, live, navigate } = await drawable();
  const { call } = Cdp.prototype;
  // The page navigates in the moment that matters.
  const calls = vi.spyOn(Cdp.prototype, "call").mockImplementation(async function (this: Cdp, method, ...rest) {
    if (method === "Page.captureScreenshot") await navigate();
    return call.call(this, method, ...rest);
  });
  onTestFinished(() => calls.mockRestore());
  await live.annotate([0, 0, 0.5, 0.5]);
  expect(await live.sendNote("a", "Larger.")).toBe(true);
  const [annotation] = notes.take("a")?.annotations ?? [];
  expect(annotation).toMatchObject({ page: { url: expect.stringContaining("Order") } });
  expect(annotation?.picture).toBeUndefined();
});

test("what is drawn at once is captured one after another without a clip, and waits for no picture", async () => {
  const { live, until } = await drawable();
  const { call } = Cdp.prototype;
  const made: string[] = [];
  const calls = vi.spyOn(Cdp.prototype, "call").mockImplementation(function (this: Cdp, method, ...rest) {
    if (/^Page.(captureScreenshot|stopScreencast)$/.test(method)) made.push(method);
    expect(rest[0]).not.toHaveProperty("clip"); // two at once would leave the page at its size
    // A page that is stopped at a breakpoint begins only later.
    return method === "Page.startScreencast" ? new Promise(() => {}) : call.call(this, method, ...rest);
  });
  onTestFinished(() => calls.mockRestore());
  await Promise.all([live.annotate([0, 0, 0.5, 0.5]), live.annotate([0.5, 0, 0.5, 0.5])]);
  await until("draft", ({ places }) => places.length === 2);
  const captures = made.flatMap((method, index) => (method === "Page.captureScreenshot" ? [index] : []));
  expect(captures).toHaveLength(2);
  expect(made.slice(captures[0], captures[1])).toContain("Page.stopScreencast");
});

test("a page of the debugger is no longer filmed when the view closes after a picture", async () => {
  const { store, id } = await drawable();
  const url = new URL(store.state.browser?.url ?? "");
  const page = { debugSession: "d", name: "Order", url: `ws://${url.host}/devtools/page/${id}` };
  const { call } = Cdp.prototype;
  const made: string[] = [];
  let respond = () => {};
  let stops = 0;
  // The endpoint is not js-debug's, and one response comes late.
  const calls = vi.spyOn(Cdp.prototype, "call").mockImplementation(function (this: Cdp, method, ...rest) {
    made.push(method);
    if (method === "JsDebug.subscribe") return Promise.resolve({});
    if (method === "Page.stopScreencast") stops += 1;
    const response = call.call(this, method, ...rest);
    if (method !== "Page.stopScreencast" || stops !== 3) return response;
    return new Promise((resolve) => {
      respond = () => resolve(response);
    });
  });
  onTestFinished(() => calls.mockRestore());
  const watcher = { frame: async () => {}, click: () => {}, dialog: () => {} };
  const state = { ...store.state, browser: null, pages: [page] };
  const cast = await Screencast.start(state, "d", size, watcher, new AbortController().signal);
  await cast.capture(async () => {}); // the second stop; the third is that of the new start
  const before = made.length;
  const closed = cast.close();
  respond();
  await closed;
  expect(made.slice(before)).toContain("Page.stopScreencast");
  expect(made.slice(before)).not.toContain("Page.startScreencast");
});

test("a page that does not respond takes neither what is drawn nor the picture without a word", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const { id, session } = await open("<title>Slow</title>");
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await expect.poll(() => live.point(0.5, 0.5, false)).toBeDefined(); // a frame has been measured
  // Of a page that hangs each takes five seconds.
  const { call } = Cdp.prototype;
  const unanswered: string[] = [];
  const calls = vi.spyOn(Cdp.prototype, "call").mockImplementation(function (this: Cdp, method, ...rest) {
    const at = unanswered.indexOf(method);
    if (at < 0) return call.call(this, method, ...rest);
    unanswered.splice(at, 1);
    return Promise.reject(new NoResponse(method));
  });
  onTestFinished(() => calls.mockRestore());
  unanswered.push("Page.stopScreencast", "Page.stopScreencast");
  await live.annotate([0, 0, 0.5, 0.5]);
  await until("draft", ({ places }) => places.length === 1);
  expect(unanswered).toEqual([]);
  let since = all.length;
  await cdp.call("Runtime.evaluate", { expression: "document.body.style.background = 'red'" }, session);
  await until("frame", () => true, since);
  since = all.length;
  unanswered.push("Page.getFrameTree");
  await live.annotate([0, 0, 0.5, 0.5]);
  expect(await until("undrawn", () => true, since)).toMatchObject({ why: "The page does not respond: try again." });
});

// Left, top, width and height of an area in the picture, in pixels of the page, and what covers most of it.
test.each([
  ["around a button", [90, 90, 120, 70], "button#order", ""],
  ["in a button", [110, 110, 20, 20], "button#order", ""],
  ["a bit of a button", [190, 140, 100, 100], "", ""],
  ["a list", [290, 90, 220, 220], "ul.list", ""],
  ["three of a list", [300, 100, 200, 150], "ul.list", ""],
  ["one of a list", [300, 102, 200, 44], "li", ""],
  ["in a shadow", [100, 300, 100, 50], "p.shadow", ""],
  ["in a frame", [300, 350, 100, 50], "button#framed", ""],
  ["around a frame", [290, 340, 220, 120], "iframe", ""],
  ["after a scroll", [90, 40, 120, 70], "button#order", "scrollTo(0, 50)"],
  ["where the page gives its elements such names", [90, 90, 120, 70], "button#order", "parentNode"],
])("what is drawn %s is about the smallest element that covers most of it", async (_, area, element, script) => {
  const { store, live, show, until } = play();
  const { cdp, open } = await debugged(store);
  const at = (left: number, top: number, width: number, height: number) =>
    `position:absolute;left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  const items = "<li style='display:block;height:50px'><b>text</b></li>".repeat(4);
  const clobbering = script === "parentNode" ? "<input name=parentNode><input name=nodeType>" : "";
  const { id, session } = await open(`<!doctype html><style>*{margin:0;border:0;padding:0}</style>
    <body style="height:3000px;background:linear-gradient(90deg,red,blue)">
    <form>${clobbering}<button id=order style="${at(100, 100, 100, 50)}"><i>Order</i></button></form>
    <ul class=list style="${at(300, 100, 200, 200)}">${items}</ul>
    <div id=host style="${at(100, 300, 100, 50)}"></div>
    <iframe style="${at(300, 350, 200, 100)}"
      srcdoc="<style>*{margin:0}</style><button id=framed style='${at(0, 0, 100, 50)}'>In</button>"></iframe>
    <script>
      const root = host.attachShadow({mode: "open"});
      root.innerHTML = "<p class=shadow style='height:50px;margin:0'>In</p>";
    </script>`);
  const screen = { width: 600, height: 500, deviceScaleFactor: 1, mobile: false };
  await cdp.call("Emulation.setDeviceMetricsOverride", screen, session);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await loaded(cdp, session);
  if (script.includes("(")) await cdp.call("Runtime.evaluate", { expression: script }, session);
  await until("frame", ({ page }) => page.width === 600);
  await painted(cdp, session);
  await expect.poll(() => live.point(0.5, 0.5, false)).toBeDefined(); // a frame has been measured
  const [left, top, width, height] = area as [number, number, number, number];
  await live.annotate([left / 600, top / 500, width / 600, height / 500]);
  const { places } = await until("draft", ({ places }) => places.length === 1);
  const [place] = places;
  expect(place?.element.split(" ").at(-1) ?? "").toBe(element);
  const scrolled = script.includes("(") ? 50 : 0;
  expect(place?.at?.map(Math.round)).toEqual([left, top + scrolled, width, height]);
});

test.each([
  ["of a dense screen", {}, 3, 1],
  ["that its user has zoomed", { partition: { default_zoom_level: { x: Math.log(1.5) / Math.log(1.2) } } }, 1, 1.5],
])("a picture is exactly the area, pixel by pixel, also in a page %s", async (_, preferences, density, zoom) => {
  const { store, clients, notes, live, show, until } = play();
  const { cdp, open } = await debugged(store, preferences);
  const { id, session } = await open(`<!doctype html><style>*{margin:0}</style><body style="height:3000px">
    <div style="position:absolute;left:100px;top:600px;width:80px;height:40px;background:rgb(200,30,60)"></div>
    <div style="position:absolute;left:180px;top:600px;width:80px;height:40px;background:rgb(20,90,200)"></div>`);
  const screen = { width: 600, height: 600, deviceScaleFactor: density, mobile: false };
  await cdp.call("Emulation.setDeviceMetricsOverride", screen, session);
  await loaded(cdp, session);
  await cdp.call("Runtime.evaluate", { expression: "scrollTo(0, 500)" }, session);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("frame", ({ page }) => page.width === 600);
  await painted(cdp, session);
  clients.announce(new AbortController().signal, [{ id: "a", name: "Agent", version: "1", kind: "mcp", since: 1 }]);
  await expect.poll(() => live.point(0.5, 0.5, false)).toBeDefined();
  // In the page's own pixels 140 to 220, 100 to 120: half of it is red, half blue.
  await live.annotate([140, 100, 80, 20].map((length) => (length * zoom) / 600) as [number, number, number, number]);
  expect(await live.sendNote("a", "")).toBe(true);
  const picture = notes.take("a")?.annotations[0]?.picture ?? "";
  const expression = `(async () => {
    const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64,${picture}")).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const wrong = [];
    for (let at = 0; at < data.length; at += 4) {
      const x = (at / 4) % bitmap.width;
      const wanted = x < 40 ? [200, 30, 60] : [20, 90, 200];
      if (wanted.some((part, index) => Math.abs(part - data[at + index]) > 2)) wrong.push(x);
    }
    return [bitmap.width, bitmap.height, ...new Set(wrong)].join();
  })()`;
  const { result } = await cdp.call("Runtime.evaluate", { expression, awaitPromise: true }, session);
  expect(result).toMatchObject({ value: "80,20" });
});

const phone = { width: 390, height: 800, deviceScaleFactor: 3, mobile: true };
const scaled = "border:5px solid; padding:10px 30px; transform:scale(0.5); transform-origin:0 0";

// Where the picture has what was clicked at the page's 100, 80.
//
// The user's own click in the picture goes the same way back.
test.each([
  ["zoomed by its user", { partition: { default_zoom_level: { x: Math.log(1.5) / Math.log(1.2) } } }, {}, 1, "", 1.5],
  ["pinched", undefined, { ...phone, mobile: false }, 2, "", 2],
  ["wider than its phone", undefined, phone, 1, "<p style='width:700px'>wide</p>", 1],
  ["in a frame that is scaled and padded", undefined, phone, 1, `<iframe srcdoc='a' style='${scaled}'></iframe>`, 1],
])(
  "a click is marked where it was, and sent to where the user sees it, in a page that is %s",
  async (_, preferences, screen, pinch, body, shown) => {
    const { store, live, show, until, all } = play();
    const { cdp, open } = await debugged(store, preferences);
    const head =
      "<!doctype html><meta name=viewport content='width=device-width,initial-scale=1'><style>*{margin:0}</style>";
    const { id, session } = await open(`${head}${body}<p style='height:3000px'>`);
    const emulate = { width: 600, height: 500, deviceScaleFactor: 1, mobile: false, ...screen };
    await cdp.call("Emulation.setDeviceMetricsOverride", emulate, session);
    await cdp.call("Emulation.setPageScaleFactor", { pageScaleFactor: pinch }, session);
    live.open(show, size);
    await until("pages", ({ current }) => current === id);
    await until("frame");
    await painted(cdp, session);
    await clickAt(cdp, session, 100, 80);
    const { x, y } = await until("click");
    expect([x * emulate.width, y * emulate.height]).toEqual([
      expect.closeTo(100 * shown, -0.5),
      expect.closeTo(80 * shown, -0.5),
    ]);
    const since = all.length;
    live.mouse({ type: "mousePressed", x, y, button: "left", clickCount: 1 });
    live.mouse({ type: "mouseReleased", x, y, button: "left", clickCount: 1 });
    const again = await until("click", () => true, since);
    expect([again.x * emulate.width, again.y * emulate.height]).toEqual([
      expect.closeTo(x * emulate.width, 0),
      expect.closeTo(y * emulate.height, 0),
    ]);
  },
);

test("the user points at an element, types into the page, and reloads it", async () => {
  const { store, live, show, until } = play();
  const { cdp, open } = await debugged(store);
  const place = "position:absolute;left:100px;top:50px;width:200px;height:40px;box-sizing:border-box;margin:2000px 0";
  const label = "<label for=coupon style='position:absolute'>Coupon</label>";
  const { id, session } = await open(
    `<title>Cart</title>${label}<input id=coupon class='wide code' style='${place}'><p style='height:5000px'>`,
  );
  const evaluate = async (expression: string) =>
    (await cdp.call("Runtime.evaluate", { expression, returnByValue: true }, session)).result as { value: unknown };
  const scrolled = "document.readyState === 'complete' && coupon && (scrollTo(0, 2000), scrollY)";
  await expect.poll(async () => (await evaluate(scrolled)).value).toBe(2000);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  const { page } = await until("frame");
  await painted(cdp, session);
  const at = { x: 150 / page.width, y: 60 / page.height };
  await expect.poll(() => live.point(at.x, at.y, false)).toBeDefined(); // once a frame has been measured
  const element = await live.point(at.x, at.y, true);
  expect(element?.text).toBe('textbox "Coupon" input#coupon.wide.code');
  const [left = 0, top = 0, width = 0, height = 0] = element?.box ?? [];
  const inPage = [left * page.width, top * page.height, width * page.width, height * page.height];
  expect(inPage.map(Math.round)).toEqual([100, 50, 200, 40]);
  expect(await until("pointed", ({ chosen }) => chosen)).toEqual({ type: "pointed", chosen: true, element });
  for (const type of ["mousePressed", "mouseReleased"] as const) {
    live.mouse({ type, ...at, button: "left", clickCount: 1 });
  }
  live.key({ type: "keyDown", key: "T", text: "T" });
  live.key({ type: "keyUp", key: "T" });
  await expect.poll(async () => (await evaluate("coupon.value")).value).toBe("T");
  await evaluate("globalThis.old = true");
  live.reload();
  await expect.poll(async () => (await evaluate("globalThis.old ?? document.readyState")).value).toBe("complete");
});

test("the user opens an address, and goes back and forward", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const server = createServer((_, response) => response.end("<title>Shop</title>"));
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const { id, session } = await open("<title>First</title>");
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("place", ({ url }) => url.startsWith("data:"));
  let since = all.length;
  live.navigate(` ${host}/cart `);
  await until("place", ({ url, back, forward }) => url === `http://${host}/cart` && back && !forward, since);
  await until("pages", ({ pages }) => pages.some((page) => page.id === id && page.url === `http://${host}/cart`));
  since = all.length;
  live.navigate(`а.${host}`); // which is Cyrillic, and looks like another host
  const twin = `http://xn--80a.${host}/`;
  await until("pages", ({ pages }) => pages.some((page) => page.id === id && page.url === twin), since);
  await until("place", ({ url }) => url === twin, since);
  const here = { expression: "document.readyState + location" };
  await expect // before it is open, back begins at the page before it
    .poll(async () => (await cdp.call("Runtime.evaluate", here, session)).result)
    .toMatchObject({ value: `complete${twin}` });
  since = all.length;
  live.go(-1);
  await until("place", ({ url, back, forward }) => url === `http://${host}/cart` && back && forward, since);
  since = all.length;
  live.go(1);
  await until("place", ({ url, forward }) => url === twin && !forward, since);
  live.go(1); // there is nothing to go to
  since = all.length;
  live.navigate("javascript:document.title = 'ran'");
  expect((await until("refused", () => true, since)).why).toContain("such as localhost:3000");
  const { result } = await cdp.call("Runtime.evaluate", { expression: "document.title" }, session);
  expect(result).toMatchObject({ value: "Shop" });
});

test("why the browser does not open an address is shown", async () => {
  const { store, live, show, until } = play();
  const { open } = await debugged(store);
  const { id } = await open("<title>Mine</title>");
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("frame");
  // The user's own browser refuses files in this way. No browser of a test does.
  const refusal = vi.spyOn(Screencast.prototype, "navigate").mockRejectedValue(new Error("Page.navigate refused"));
  onTestFinished(() => refusal.mockRestore());
  live.navigate("file:///home/dev/notes.html");
  await until("refused", ({ why }) => why === "The address cannot be opened: Page.navigate refused.");
});

test("why a page does not open an address is not shown when another page is", async () => {
  const { store, live, show, until, all } = play();
  const { open } = await debugged(store);
  const [first, second] = [await open("<title>First</title>"), await open("<title>Second</title>")];
  live.open(show, size);
  await until("pages", ({ pages }) => [first, second].every(({ id }) => pages.some((page) => page.id === id)));
  live.choose(first.id);
  await until("frame", () => true, all.length);
  let refuse = (_: Error) => {};
  const refusal = vi.spyOn(Screencast.prototype, "navigate").mockReturnValue(
    new Promise((_, reject) => {
      refuse = reject;
    }),
  );
  onTestFinished(() => refusal.mockRestore());
  live.navigate("file:///home/dev/notes.html");
  expect(refusal).toHaveBeenCalled();
  const since = all.length;
  live.choose(second.id);
  refuse(new Error("Page.navigate refused"));
  await until("frame", () => true, since);
  expect(all.slice(since).some(({ type }) => type === "refused")).toBe(false);
});

/** The width of the last frame, and its colour in the middle. The browser decodes it. */
async function pictured(cdp: Cdp, session: string, all: Shown[]): Promise<{ width: number; colour: number[] }> {
  const last = all.findLast((each) => each.type === "frame");
  const data = last?.type === "frame" ? last.data : [];
  const expression = `(async () => {
    const bytes = Uint8Array.from(atob("${Buffer.from(data).toString("base64")}"), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    const colour = [...context.getImageData(picture.width / 2, picture.height / 2, 1, 1).data].slice(0, 3);
    return { width: picture.width, colour };
  })()`;
  const params = { expression, awaitPromise: true, returnByValue: true };
  const { result } = await cdp.call("Runtime.evaluate", params, session);
  return (result as { value: { width: number; colour: number[] } }).value;
}

test("a panel that was slow to draw shows the page as it is in the end", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const { id, session } = await open("<title>Colours</title><body style='background:rgb(0,0,200)'>");
  const waiting: Shown[] = [];
  let slow = true;
  live.open((shown) => (slow && shown.type === "frame" ? void waiting.push(shown) : show(shown)), size);
  await until("pages", ({ current }) => current === id);
  // More than the browser sends without an answer.
  for (let frame = 1; frame <= 6; frame += 1) {
    const expression = `document.body.style.background = "rgb(${frame * 40},0,200)"`;
    await cdp.call("Runtime.evaluate", { expression }, session);
    await painted(cdp, session);
    await cdp.call("Page.captureScreenshot", {}, session);
  }
  await expect.poll(() => waiting.length).toBeGreaterThan(1);
  slow = false;
  for (const shown of waiting) show(shown);
  const red = async () => (await pictured(cdp, session, all)).colour[0];
  await expect.poll(red).toBeGreaterThan(220);
});

test("the picture follows the size of the panel", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const { id, session } = await open("<title>Shop</title>");
  live.open(show, { width: 320, height: 640 });
  await until("pages", ({ current }) => current === id);
  await until("frame");
  expect((await pictured(cdp, session, all)).width).toBeLessThanOrEqual(320);
  live.resize({ width: 640, height: 640 });
  const width = async () => (await pictured(cdp, session, all)).width;
  await expect.poll(width).toBeGreaterThan(320);
});

test("the user chooses the page, and nothing is asked while nobody looks", async () => {
  const { store, live, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const first = await open("<title>First</title>");
  const second = await open("<title>Second</title>");
  live.open(show, size);
  await until("pages", ({ pages }) => [first, second].every(({ id }) => pages.some((page) => page.id === id)));
  live.choose(first.id);
  await until("pages", ({ current }) => current === first.id);
  await until("frame", () => true, all.length);
  live.hide();
  const shown = all.length;
  await cdp.call("Runtime.evaluate", { expression: "document.body.textContent = 'painted'" }, first.session);
  await cdp.call("Page.captureScreenshot", {}, first.session); // after this it is painted
  expect(all).toHaveLength(shown);
  live.open(show, size);
  await until("frame", () => true, shown);
  await cdp.call("Target.closeTarget", { targetId: first.id });
  await until("pages", ({ current }) => current === second.id, shown);
});

test("while nobody looks, nobody is connected to the browser", async () => {
  const { store, live, show, until, all } = play();
  const { open } = await debugged(store);
  await open("<title>Shop</title>");
  const relay = await relayed(store);
  for (let count = 0; count < 2; count += 1) {
    const before = all.length;
    live.open(show, size);
    await until("frame", () => true, before);
    await relay.until(2); // for the pages, and for the one that is shown
    live.hide();
    await relay.until(0);
  }
});

test("a page that cannot be shown is tried again when the user wants it, and not at every change", async () => {
  const { store, live, warn, show, until, all } = play();
  const { open } = await debugged(store);
  const { id } = await open("<title>Shop</title>");
  const relay = await relayed(store);
  relay.takes = 1; // that which lists the pages
  live.choose(id);
  live.open(show, size);
  await until("pages", ({ current, pages }) => current === id && pages.some(({ title }) => title === "Shop"));
  const chosen = all.findIndex((each) => each.type === "pages" && each.current === id);
  await until("failed", ({ why }) => why?.startsWith("The page cannot be shown: ") === true, chosen);
  const [sent, warned] = [all.length, warn.mock.calls.length];
  for (let line = 1; line <= 5; line += 1) {
    store.set({ editor: { path: "/a", line, column: 1, endLine: line, endColumn: 1, dirty: false } });
  }
  live.choose(id);
  expect(all).toHaveLength(sent);
  live.retry();
  await until("failed", ({ why }) => why !== undefined, sent);
  expect(warn).toHaveBeenCalledTimes(warned + 1);
  relay.takes = 1;
  const before = all.length;
  live.retry();
  await until("frame", () => true, before);
  expect(all.findLast(({ type }) => type === "failed")).toEqual({ type: "failed" });
});

test("what the panel knows is not sent again", async () => {
  const { store, live, show, until, all } = play();
  const { open } = await debugged(store);
  const { id } = await open("<title>Shop</title>");
  live.open(show, size);
  await until("pages", ({ current, pages }) => current === id && pages.some(({ title }) => title === "Shop"));
  await until("frame");
  const listed = () => all.filter(({ type }) => type === "pages");
  const before = listed().length;
  store.set({ editor: { path: "/a", line: 1, column: 1, endLine: 1, endColumn: 1, dirty: false } });
  expect(listed()).toHaveLength(before);
  live.open(show, size); // a panel that has reloaded knows nothing
  expect(listed().length).toBeGreaterThan(before);
});

test("what a client asks for is shown on its page only, also in a panel that opens later", async () => {
  const { store, live, show, until, all } = play();
  const { open } = await debugged(store);
  const [first, second] = [await open("<title>First</title>"), await open("<title>Second</title>")];
  const over = new AbortController();
  const cancelled = live.ask("Which button?", first.id, over.signal);
  live.open(show, size);
  await until("asked", ({ text }) => text === "Which button?");
  expect(all.findLast(({ type }) => type === "pages")).toMatchObject({ current: first.id });
  let since = all.length;
  live.choose(second.id);
  await until("frame", () => true, since);
  expect(all.slice(since).some((each) => each.type === "asked" && each.text !== undefined)).toBe(false);
  since = all.length;
  live.choose(first.id);
  await until("asked", ({ text }) => text === "Which button?", since);
  live.cancelRequest();
  await cancelled;
  since = all.length;
  over.abort();
  expect(all.slice(since)).toEqual([{ type: "asked", text: undefined }]);
});

test("what an agent asks to act on is framed where it is, while the page shows its document", async () => {
  const { store, live, ask, show, until, all } = play();
  const { cdp, open } = await debugged(store);
  const place = "position:absolute;left:60px;top:100px;width:120px;height:50px;border:0;padding:0";
  const { id, session } = await open(`<!doctype html><style>*{margin:0}</style><body style="height:3000px">
    <button id=order style="${place}">Order</button>`);
  const screen = { width: 600, height: 500, deviceScaleFactor: 1, mobile: false };
  await cdp.call("Emulation.setDeviceMetricsOverride", screen, session);
  await loaded(cdp, session);
  const { result } = await cdp.call("Runtime.evaluate", { expression: "order" }, session);
  const { node } = await cdp.call("DOM.describeNode", result as { objectId: string }, session);
  const { frameTree } = await cdp.call("Page.getFrameTree", {}, session);
  const { loaderId } = (frameTree as { frame: { loaderId: string } }).frame;
  const order = { target: id, document: loaderId, id: (node as { backendNodeId: number }).backendNodeId };
  const stale = { ...order, document: "another" };
  ask(order, stale, { ...order, target: "another" }); // before the view shows the page
  live.open(show, size);
  await until("targets", ({ boxes }) => boxes.length === 1);
  const at = (top: number) => [[0.1, top / 500, 0.2, 0.1].map((part) => expect.closeTo(part, 3))];
  await expect.poll(() => all.findLast((each) => each.type === "targets")?.boxes).toEqual(at(100));
  await cdp.call("Runtime.evaluate", { expression: "scrollTo(0, 50)" }, session);
  await expect.poll(() => all.findLast((each) => each.type === "targets")?.boxes).toEqual(at(50));
  let since = all.length;
  ask();
  await until("targets", ({ boxes }) => boxes.length === 0, since);
  since = all.length;
  ask(order);
  await until("targets", ({ boxes }) => boxes.length === 1, since);
  live.hide();
  ask();
  since = all.length;
  live.open(show, size); // in a page that still has the frame
  await until("targets", ({ boxes }) => boxes.length === 0, since);
  since = all.length;
  ask(order);
  await until("targets", ({ boxes }) => boxes.length === 1, since);
  since = all.length;
  await cdp.call("Page.navigate", { url: "data:text/html,<title>Other</title>" }, session);
  await until("targets", ({ boxes }) => boxes.length === 0, since);
});

/** Two pages of which the first is shown, and agents that act. */
async function followed() {
  const played = play();
  const { store, clients, live, show, until, all } = played;
  const { open } = await debugged(store);
  const style = "<style>* { margin:0; border:0 } button { width:100vw; height:100vh }</style><button id=order>";
  const [first, second] = [await open(`<title>First</title>${style}`), await open("<title>Second</title>")];
  live.open(show, size);
  await until("pages", ({ pages }) => [first, second].every(({ id }) => pages.some((page) => page.id === id)));
  const connection = new AbortController().signal;
  const agents = new Map<string, string>();
  let time = 10;
  const act = (id: string, page: string) => {
    agents.set(id, page);
    const listed = [...agents].map(
      ([id, page]) => ({ id, page, name: id, version: "", kind: "mcp", since: 1 }) as const,
    );
    clients.announce(connection, listed);
    time += 1;
    clients.report([{ client: id, time, act: "browser_click", target: "", outcome: "done", ok: true }]);
  };
  const current = () => all.findLast((each) => each.type === "pages")?.current;
  act("Agent", first.id);
  expect(current()).toBe(first.id);
  return { ...played, act, current, first: first.id, second: second.id };
}

test("it follows the agent that acted last, until the user chooses a page", async () => {
  const { live, all, act, current, first, second } = await followed();
  act("Other", second);
  expect(current()).toBe(second);
  act("Agent", first);
  expect(current()).toBe(first);
  expect(all.findLast(({ type }) => type === "pages")).toMatchObject({ following: true });
  live.choose(second);
  act("Agent", first);
  expect(all.findLast(({ type }) => type === "pages")).toMatchObject({ current: second, following: false });
  live.follow(true);
  expect(current()).toBe(first);
  live.follow(false); // stays where it is
  act("Other", second);
  expect(current()).toBe(first);
});

test.each(["taken over", "busy", "with a note", "asked"])(
  "it follows nobody while the user is %s, and then whoever acted last",
  async (reason) => {
    const { store, live, show, until, all, act, current, first, second } = await followed();
    const over = new AbortController();
    const takeOver = (takenOver: boolean) => store.set({ access: { ...store.state.access, takenOver } });
    const [begin, end] = {
      "taken over": [async () => takeOver(true), () => takeOver(false)],
      busy: [async () => live.setBusy(true), () => live.setBusy(false)],
      "with a note": [
        async () => {
          await until("frame");
          await expect.poll(() => live.point(0.5, 0.5, true)).toBeDefined(); // once a frame has been measured
        },
        () => live.discardNote(),
      ],
      asked: [async () => void live.ask("Which button?", first, over.signal), () => over.abort()],
    }[reason] as [() => Promise<void>, () => void];
    await begin();
    act("Other", second);
    expect(current()).toBe(first);
    if (reason !== "busy") {
      live.hide(); // where nobody is busy
      const since = all.length;
      live.open(show, size);
      await until("pages", () => true, since);
    }
    expect(current()).toBe(first);
    end();
    await expect.poll(current).toBe(second);
  },
);

test("what the user picks while an agent acts elsewhere is of the page that the user sees", async () => {
  const { live, until, act, current, first, second } = await followed();
  await until("frame");
  await expect.poll(() => live.point(0.5, 0.5, false)).toBeDefined(); // once a frame has been measured
  live.setBusy(true);
  act("Other", second);
  const picked = live.point(0.5, 0.5, true);
  live.setBusy(false);
  expect(current()).toBe(first);
  expect((await picked)?.text).toContain("button#order");
  expect(current()).toBe(first);
  live.discardNote();
  expect(current()).toBe(second);
});

/** A page in the live view whose buttons fill it, and which knows the last one that was pressed. */
async function sized() {
  const played = play();
  const { store, live, show, until, all } = played;
  const { cdp, open } = await debugged(store);
  const style = "* { margin:0; border:0; padding:0 } button { position:fixed; width:50vw; height:50vh }";
  const places = ["left:0;top:0", "right:0;top:0", "left:0;bottom:0", "right:0;bottom:0"];
  const buttons = places.map((place, index) => `<button style="${place}" onclick="pressed=${index}"></button>`);
  const meta = "<meta name=viewport content='width=device-width'>";
  const { id, session } = await open(`<title>Sized</title>${meta}<style>${style}</style>${buttons.join("")}`);
  live.open(show, size);
  await until("pages", ({ current }) => current === id);
  await until("frame");
  await expect.poll(() => live.point(0.5, 0.5, false)).toBeDefined(); // once a frame has been measured
  const evaluate = async (expression: string) => {
    const { result } = await cdp.call("Runtime.evaluate", { expression }, session);
    return (result as { value: unknown }).value;
  };
  const page = () => evaluate("[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0].join()");
  /** Chooses a device, and waits until the page has its size. */
  const choose = async (name?: "phone" | "tablet" | "desktop", turned = false) => {
    const since = all.length;
    live.setDevice(name, turned);
    await until("device", (shown) => shown.name === name && shown.turned === turned, since);
  };
  const device = () => all.findLast((each) => each.type === "device");
  return { ...played, cdp, id, session, evaluate, page, choose, device, window: await page() };
}

test("the user gives the page a device's size, turns it, and gives it that of its window again", async () => {
  const { live, page, choose, window, until, all } = await sized();
  await choose("phone");
  expect(await page()).toBe("390,844,3,true");
  await until("frame", (shown) => shown.page.width === 390 && shown.page.height === 844);
  await live.annotate([0.1, 0.1, 0.5, 0.2]); // takes a picture
  expect(await page()).toBe("390,844,3,true");
  await choose("phone", true);
  expect(await page()).toBe("844,390,3,true");
  await choose("desktop");
  expect(await page()).toBe("1440,900,1,false");
  const since = all.length;
  await choose();
  await expect.poll(page).toBe(window);
  await until("frame", (shown) => shown.page.width === Number(window?.toString().split(",")[0]), since);
});

test("what the user clicks right after a change of size is clicked at the new size", async () => {
  const { live, evaluate, until, all } = await sized();
  for (const [index, name] of (["phone", "desktop", "tablet"] as const).entries()) {
    const since = all.length;
    live.setDevice(name, false);
    const place = { x: 0.75, y: 0.75, button: "left", clickCount: 1 };
    for (const type of ["mousePressed", "mouseReleased"] as const) live.mouse({ type, ...place });
    expect(await until("click", () => true, since)).toMatchObject({
      x: expect.closeTo(0.75, 2),
      y: expect.closeTo(0.75, 2),
    });
    await expect.poll(() => evaluate("window.pressed")).toBe(3);
    await evaluate(`pressed = "none after ${index}"`);
  }
});

test("a device's size stays in the next document, and goes with the live view", async () => {
  const { live, cdp, session, page, choose, window, device, show, until, all } = await sized();
  await choose("phone");
  const meta = "<meta name=viewport content='width=device-width'>";
  const since = all.length;
  await cdp.call("Page.navigate", { url: `data:text/html,<title>Next</title>${meta}` }, session);
  await until("pages", ({ pages }) => pages.some(({ title }) => title === "Next"), since);
  await loaded(cdp, session);
  expect(await page()).toBe("390,844,3,true");
  expect(device()).toMatchObject({ name: "phone" });
  live.hide();
  await expect.poll(page).toBe(window);
  const hidden = all.length;
  live.open(show, size);
  await until("device", ({ name }) => name === undefined, hidden);
});

test("who sets a size last has it, and the user sees whether the page has theirs", async () => {
  const { cdp, id, page, choose, until, all, device, session } = await sized();
  const { sessionId: other } = await cdp.call("Target.attachToTarget", { targetId: id, flatten: true });
  const replace = async (width: number, height: number) => {
    const since = all.length;
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await cdp.call("Emulation.setDeviceMetricsOverride", metrics, String(other));
    await until("device", ({ name }) => name === undefined, since);
  };
  await choose("tablet");
  await replace(1000, 700);
  expect(await page()).toBe("1000,700,1,true"); // the other client left the touch screen as it was
  await choose("tablet"); // again, which the browser takes for no change in one session
  expect(await page()).toBe("820,1180,2,true");
  const since = all.length;
  const meta = "<meta name=viewport content='width=device-width'>";
  await cdp.call("Page.navigate", { url: `data:text/html,<title>Next</title>${meta}` }, session);
  await until("pages", ({ pages }) => pages.some(({ title }) => title === "Next"), since);
  await loaded(cdp, session);
  expect(await page()).toBe("820,1180,2,true"); // though the other client's session has a size too
  expect(device()).toMatchObject({ name: "tablet" });
  await replace(600, 500);
});
