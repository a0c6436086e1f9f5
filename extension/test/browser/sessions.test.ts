// Which endpoint a window reports. The editor is played here; the browser is real.
import { expect, onTestFinished, test } from "vitest";
import { inject } from "../../src/core/browser/injection";
import { type PageProxy, type SessionInfo, Sessions } from "../../src/core/browser/sessions";
import { silent } from "../../src/core/log";
import type { State } from "../../src/core/protocol/protocol.generated";
import { Store } from "../../src/core/window/store";
import { endBrowser, launchBrowser } from "../support/browser";
import { temporaryFolder } from "../support/window";

function start(pageProxy: PageProxy = () => new Promise(() => {})) {
  const store = new Store();
  let warn = (_: string) => {};
  const warned = new Promise<string>((resolve) => {
    warn = resolve;
  });
  const sessions = new Sessions(store, pageProxy, { ...silent, warn });
  onTestFinished(() => sessions.close());
  const until = (fits: (state: State) => boolean) =>
    new Promise<State>((resolve) => {
      const look = () => fits(store.state) && resolve(store.state);
      onTestFinished(store.subscribe(look));
      look();
    });
  return { store, sessions, until, warned };
}

function root(id: string, configuration: Record<string, unknown> = {}): SessionInfo {
  return { id, name: `Launch ${id}`, type: "pwa-chrome", configuration: { request: "launch", ...configuration } };
}

function child(parent: SessionInfo, id: string): SessionInfo {
  return { id, name: id, type: "pwa-chrome", parent, configuration: { __pendingTargetId: id } };
}

async function launched(id: string) {
  const userDataDir = await temporaryFolder();
  const browser = launchBrowser(userDataDir);
  const configuration = { type: "pwa-chrome", request: "launch", userDataDir };
  const injection = inject(configuration, true);
  if ("skipped" in injection) throw new Error(injection.skipped);
  return { browser, info: root(id, injection.configuration) };
}

const proxied = async (id: string) => ({ host: "127.0.0.1", port: 9000, path: `/${id}` });

test("a launch is reported with its browser, and cleared when it ends", async () => {
  const { store, sessions, until } = start();
  const { info } = await launched("a");
  sessions.started(info);
  expect(store.state.debugSessions).toEqual([{ id: "a", name: "Launch a", type: "pwa-chrome" }]);
  const { browser } = await until((state) => state.browser !== null);
  expect(browser).toMatchObject({ via: "injected", debugSession: "a" });
  sessions.ended("a");
  expect(store.state).toMatchObject({ debugSessions: [], browser: null, pages: [] });
});

test("a crash of the browser clears it, though the debugger has not noticed", async () => {
  const { sessions, until } = start();
  const { info, browser } = await launched("a");
  sessions.started(info);
  await until((state) => state.browser !== null);
  await endBrowser(browser);
  const state = await until((each) => each.browser === null && each.revision > 1);
  expect(state.debugSessions).toHaveLength(1);
});

test("of two browsers the newest is reported, and the other when that ends", async () => {
  const { store, sessions, until } = start();
  const [a, b] = [await launched("a"), await launched("b")];
  sessions.started(a.info);
  await until((state) => state.browser?.debugSession === "a");
  sessions.started(b.info);
  await until((state) => state.browser?.debugSession === "b");
  sessions.ended("b");
  expect(store.state.browser?.debugSession).toBe("a");
});

test("where there is no port, pages come through js-debug", async () => {
  const { sessions, store, until } = start(proxied);
  const info = root("a", { userDataDir: false });
  sessions.started(info);
  sessions.started(child(info, "page"));
  const { pages, browser } = await until((state) => state.pages.length > 0);
  expect(browser).toBeNull();
  expect(pages).toEqual([{ debugSession: "page", name: "page", url: "ws://127.0.0.1:9000/page" }]);
  sessions.ended("page");
  expect(store.state.pages).toEqual([]);
});

// The desktop's integrated browser cannot run where the tests do. Played here is what the editor reports of it, and of
// browsers on the user's side of a remote window; e2e/remote.test.ts has a real one of these.
test.each<[string, string, Record<string, unknown>]>([
  ["the desktop's integrated browser", "editor-browser", {}],
  ["the desktop's integrated browser, resolved", "pwa-editor-browser", {}],
  ["the integrated browser that is attached to", "editor-browser", { request: "attach" }],
  ["a browser on the user's side", "pwa-chrome", { browserLaunchLocation: "ui" }],
  ["one with a port on the user's side", "pwa-chrome", { browserLaunchLocation: "ui", port: 9222 }],
  [
    "one that is attached to on the user's side",
    "pwa-chrome",
    { request: "attach", browserAttachLocation: "ui", port: 9222 },
  ],
])("of %s, played, nothing is added and the pages come through js-debug", async (_, type, configuration) => {
  const { sessions, store, until } = start(proxied);
  const info = { ...root("a", { userDataDir: await temporaryFolder(), ...configuration }), type };
  const asked = { type, ...info.configuration };
  expect(inject(asked, true)).toHaveProperty("skipped");
  const page = { ...child(info, "page"), type };
  sessions.started(info);
  sessions.started(page);
  const { browser, pages, debugSessions } = await until((state) => state.pages.length > 0);
  expect(browser).toBeNull();
  expect(pages).toEqual([{ debugSession: "page", name: "page", url: "ws://127.0.0.1:9000/page" }]);
  expect(debugSessions).toMatchObject([
    { id: "a", type, ...(type === "pwa-chrome" && { remote: true }) },
    { id: "page", parent: "a", type },
  ]);
  expect(debugSessions.some((each) => each.remote)).toBe(type === "pwa-chrome");
  sessions.ended("a");
  expect(store.state).toMatchObject({ debugSessions: [], browser: null, pages: [] });
});

test("a page's frames and workers come with it, known by the session that they are below", async () => {
  const { sessions, store, until } = start(proxied);
  const info = root("a");
  const page = child(info, "page");
  sessions.started(info);
  sessions.started(page);
  sessions.started(child(page, "worker"));
  const { debugSessions, pages } = await until((state) => state.pages.length > 1);
  expect(debugSessions).toMatchObject([{ id: "a" }, { id: "page", parent: "a" }, { id: "worker", parent: "page" }]);
  expect(pages.map(({ debugSession }) => debugSession)).toEqual(["page", "worker"]);
  sessions.ended("page");
  expect(store.state.pages).toEqual([]);
});

test("js-debug that never answers costs three seconds, not the session", async () => {
  const { sessions, store, warned } = start();
  const info = root("a");
  sessions.started(info);
  sessions.started(child(info, "page"));
  expect(sessions.unreachable).toBe(false);
  expect(await warned).toContain("did not respond within 3000 ms");
  expect(sessions.unreachable).toBe(true);
  expect(store.state).toMatchObject({ debugSessions: [{ id: "a" }, { id: "page" }], pages: [] });
});

test.each([
  ["nothing", undefined, "offers none"],
  ["another machine", { host: "10.0.0.7", port: 9000, path: "/x" }, "not on this machine"],
  ["no port", { host: "127.0.0.1" }, "offers none"],
])("js-debug that answers %s gives no page", async (_, answer, why) => {
  const { sessions, store, warned } = start(async () => answer);
  const info = root("a");
  sessions.started(info);
  sessions.started(child(info, "page"));
  expect(await warned).toContain(why);
  expect(store.state.pages).toEqual([]);
});

test("an attach that found nothing is tried again when a page comes", async () => {
  const { info: own } = await launched("own");
  const finder = start();
  finder.sessions.started(own);
  const { browser } = await finder.until((state) => state.browser !== null);
  const port = Number(new URL(browser?.url ?? "").port);

  const { sessions, until } = start();
  const info = root("a", { request: "attach", port: 1 });
  sessions.started(info);
  Object.assign(info.configuration, { port }); // as if the browser had come up just now
  sessions.started(child(info, "page"));
  expect((await until((state) => state.browser !== null)).browser).toMatchObject({
    via: "attached",
    url: browser?.url,
  });
});

test("Node's and others' sessions are ignored", () => {
  const { sessions, store } = start();
  sessions.started({ ...root("a"), type: "pwa-node" });
  sessions.started({ ...root("b"), type: "go" });
  expect(store.state.revision).toBe(0);
});

test("a child that comes first brings its parent, and the parent's end takes it along", () => {
  const { sessions, store } = start(proxied);
  const info = root("a");
  sessions.started(child(info, "page"));
  sessions.started(info);
  expect(store.state.debugSessions.map(({ id }) => id)).toEqual(["a", "page"]);
  sessions.ended("a");
  sessions.ended("page");
  expect(store.state.debugSessions).toEqual([]);
});

test("what ends while its browser is searched stays gone", async () => {
  const { sessions, store } = start();
  const { info } = await launched("a");
  sessions.started(info);
  sessions.ended("a");
  const { info: next } = await launched("b");
  const after = start();
  after.sessions.started(next);
  await after.until((state) => state.browser !== null); // as long as the first search would have taken
  expect(store.state).toMatchObject({ debugSessions: [], browser: null });
});

test("a renamed page is reported at the next message of the debugger, and only then", async () => {
  const { sessions, store, until } = start(proxied);
  const parent = root("a", { userDataDir: false });
  let name = "Shop";
  const page: SessionInfo = Object.defineProperty(child(parent, "page"), "name", { get: () => name });
  sessions.started(parent);
  sessions.started(page);
  const { revision } = await until((state) => state.pages.length === 1);
  sessions.adapterActive("page");
  expect(store.state.revision).toBe(revision);
  name = "Shop: cart";
  sessions.adapterActive("page");
  expect(store.state).toMatchObject({
    revision: revision + 1,
    debugSessions: [{ name: "Launch a" }, { name: "Shop: cart" }],
    pages: [{ name: "Shop: cart" }],
  });
});

test("the user's own browser takes the place of those that are debugged, as long as it is used", async () => {
  const { store, sessions, until } = start(proxied);
  const { info } = await launched("a");
  sessions.started(info);
  const { browser } = await until((state) => state.browser !== null);
  const own = { url: "ws://127.0.0.1:9000/secret", via: "personal" };
  sessions.own = own;
  expect(store.state).toMatchObject({ browser: own, pages: [], debugSessions: [{ id: "a" }] });
  sessions.own = undefined;
  expect(store.state.browser).toEqual(browser);
});
