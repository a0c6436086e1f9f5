// Every way in which a window has a debug browser, in a real VS Code. Launches with an added port are in
// window.test.ts, launches without one by the setting in pages.test.ts. A session that began before the
// extension cannot be made here: where the extension's host ends, so do the debug adapters in it; it is
// played in test/browser/sessions.test.ts. Nor can the desktop's integrated browser, and one on the user's side.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { DebugStateResult, State } from "../src/core/protocol/protocol.generated";
import { untilAbsent, untilPresent } from "./support/files";
import { freePort } from "./support/port";
import { thisRun } from "./support/run";
import { browserArgs, openShop, type Shop } from "./support/shop";
import { addressOf, Listener, roots } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
let screen: BrowserContext;
let shop: Shop;
let address: string;
let window: Workbench;
let listener: Listener;
let port: number;
let attached: ChildProcess | undefined;
let joined: Browser | undefined;

async function joinBrowser(url: string | undefined): Promise<Browser> {
  joined = await chromium.connectOverCDP(url ?? "", { timeout: 60_000 });
  return joined;
}

function quiet(state: State): boolean {
  return state.debugSessions.length === 0 && state.browser === null && state.pages.length === 0;
}

beforeAll(async () => {
  screen = await openScreen(run);
  shop = await openShop(run, "sessions");
  port = await freePort();
  const file = join(shop.folder, ".vscode", "launch.json");
  const [launch] = JSON.parse(readFileSync(file, "utf8")).configurations;
  const attach = {
    type: "chrome",
    request: "attach",
    browserAttachLocation: "workspace",
    webRoot: "${workspaceFolder}",
  };
  const configurations = [
    launch,
    { ...launch, name: "Second", url: `${shop.url}?second`, userDataDir: "${workspaceFolder}/second-profile" },
    { ...launch, name: "Own port", port },
    { ...launch, name: "Own argument", runtimeArgs: [...browserArgs, `--remote-debugging-port=${port}`] },
    // js-debug's Edge on the run's browser: there is no Edge here.
    { ...launch, name: "Edge", type: "msedge", userDataDir: "${workspaceFolder}/edge-profile" },
    { ...launch, name: "Own profile", userDataDir: false },
    { ...attach, name: "Attach", port },
    { type: "node", request: "launch", name: "Server", program: "${workspaceFolder}/server.cjs" },
  ];
  const compounds = [{ name: "Both", configurations: ["Shop", "Second"] }];
  writeFileSync(file, JSON.stringify({ version: "0.2.0", configurations, compounds }));
  writeFileSync(join(shop.folder, "server.cjs"), "require('node:net').createServer().listen(0, '127.0.0.1');\n");
  address = await addressOf(run, shop.folder);
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  listener = await Listener.dial(address);
  await window.openFile("app.js");
});

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await window.screenshot(`failed ${task.name}`);
  await joined?.close();
  joined = undefined;
});

afterAll(async () => {
  attached?.kill();
  listener?.close();
  await window?.close();
  await untilAbsent(address); // else the next file's coordinator may find the window
  await screen?.close();
  await shop?.close();
});

test("a launch with the user's own port is left alone, and reported", async () => {
  await window.debug("Own port");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser).toMatchObject({ via: "configured", url: expect.stringContaining(`:${port}/devtools/browser/`) });
  await window.stop();
  await listener.until(quiet);
});

test("a launch with a debugging port among the user's own arguments is left alone, and reported", async () => {
  await window.debug("Own argument");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser).toMatchObject({ via: "configured", url: expect.stringContaining(`:${port}/devtools/browser/`) });
  await window.stop();
  await listener.until(quiet);
});

test("a launch of Edge has a port added, as one of Chrome has", async () => {
  await window.debug("Edge");
  const state = await listener.debugging((state) => state.browser !== null);
  expect(roots(state)).toMatchObject([{ type: "pwa-msedge" }]); // js-debug's own name for it
  expect(state.browser?.via).toBe("injected");
  expect((await joinBrowser(state.browser?.url)).isConnected()).toBe(true);
  await window.stop();
  await listener.until(quiet);
});

test("a session that is restarted keeps its page and an endpoint", async () => {
  await window.debug("Shop");
  const before = await listener.debugging((state) => state.browser !== null);
  const page = (await joinBrowser(before.browser?.url)).contexts()[0]?.pages()[0];
  await page?.evaluate("globalThis.stale = true");
  const left = page?.waitForEvent("framenavigated").catch(() => {}); // or its browser ends
  await window.press("Control+Shift+F5");
  await left;
  const { browser } = await listener.debugging((state) => state.browser !== null);
  const [shown] = (await joinBrowser(browser?.url)).contexts()[0]?.pages() ?? [];
  await shown?.getByRole("heading", { name: "Shop" }).waitFor();
  expect(await shown?.evaluate("globalThis.stale")).toBeUndefined();
  await window.stop();
  await listener.until(quiet);
});

test("a navigation of the page and the end of its browser are reported", async () => {
  await window.debug("Shop");
  const { browser, revision } = await listener.debugging((state) => state.browser !== null);
  const page = (await joinBrowser(browser?.url)).contexts()[0]?.pages()[0];
  writeFileSync(join(shop.folder, "other.html"), "<!doctype html><title>Another page</title>");
  await page?.goto(`${shop.url}other.html`);
  const moved = await listener.until((state) => state.debugSessions.some(({ name }) => name.includes("other.html")));
  expect(moved.revision).toBeGreaterThan(revision);
  expect(moved.browser).toEqual(browser);
  const session = await joined?.newBrowserCDPSession();
  void session?.send("Browser.crash").catch(() => {}); // it does not live to answer
  const crashed = await listener.until((state) => state.browser === null);
  expect(crashed.revision).toBeGreaterThan(moved.revision);
  await listener.until(quiet);
});

test("after a crash the next launch is as any other, without a question about the profile", async () => {
  // What the crash has left; the browser of another file's window may be on its way out as well.
  const left = readdirSync(join(run.root, "user", "User", "workspaceStorage"), { recursive: true, encoding: "utf8" });
  expect(left.filter((name) => name.endsWith("ms-vscode.js-debug/.profile/SingletonLock"))).not.toEqual([]);
  await window.debug("Shop");
  await listener.debugging((state) => state.browser !== null);
  await window.stop();
  await listener.until(quiet);
});

test("a browser that is attached to is reported, and outlives the session", async () => {
  const profile = join(run.root, "attached-profile");
  mkdirSync(profile);
  const args = [...browserArgs, `--remote-debugging-port=${port}`, `--user-data-dir=${profile}`, shop.url];
  attached = spawn(run.browser, args, { env: run.env, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    attached?.once("exit", () => reject(new Error("the browser ended at once")));
    attached?.stderr?.on("data", (text: Buffer) => text.includes("DevTools listening") && resolve());
  });
  await window.debug("Attach");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser).toMatchObject({ via: "attached", url: expect.stringContaining(`:${port}/devtools/browser/`) });
  await window.stop();
  await listener.until(quiet);
  expect((await joinBrowser(browser?.url)).isConnected()).toBe(true);
});

test("without a profile folder there is no port, but the page", async () => {
  await window.debug("Own profile");
  const state = await listener.debugging(({ pages }) => pages.length === 1);
  expect(state.browser).toBeNull();
  expect(state.pages[0]?.url).toMatch(/^ws:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]+$/);
  await window.stop();
  await listener.until(quiet);
});

test("of a compound's sessions the newest browser is reported, and the other one when that ends", async () => {
  await window.debug("Both");
  const both = await listener.debugging((state) => roots(state).length === 2 && state.browser !== null);
  const [first, second] = roots(both);
  const newest = await listener.until((state) => state.browser?.debugSession === second?.id);
  expect(newest.browser?.via).toBe("injected");
  const closing = await (await joinBrowser(newest.browser?.url)).newBrowserCDPSession();
  void closing.send("Browser.close").catch(() => {}); // as the user closes its window
  const left = await listener.until((state) => roots(state).length === 1 && state.browser !== null);
  expect(left.browser?.debugSession).toBe(first?.id);
  expect(left.browser?.url).not.toBe(newest.browser?.url);
  await window.stop();
  await listener.until(quiet);
});

test("a session without a browser is none of the window's, though a client can debug it along", async () => {
  const { revision } = listener.state;
  await window.debug("Server");
  await window.running();
  const state = async () => ((await listener.call("debug.state")) as unknown as DebugStateResult).sessions;
  await expect.poll(async () => (await state()).map(({ configuration }) => configuration)).toContain("Server");
  expect(quiet(listener.state)).toBe(true);
  await window.stop();
  await expect.poll(state).toEqual([]);
  expect(listener.state.revision).toBe(revision);
});
