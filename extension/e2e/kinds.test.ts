// Every way in which a window can have a debug browser that can run here.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { untilPresent } from "./support/files";
import { browserArgs, openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = inject("run");
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let listener: Listener;
let own: ChildProcess;

/** A browser of the user's own, to attach to. */
async function startOwn(): Promise<number> {
  const profile = join(run.root, "own-profile");
  mkdirSync(profile);
  const args = [...browserArgs, "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"];
  own = spawn(run.browser, args, { env: run.env, stdio: "ignore" });
  await untilPresent(join(profile, "DevToolsActivePort"));
  return Number(readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n")[0]);
}

beforeAll(async () => {
  screen = await openScreen(run);
  const port = await startOwn();
  shop = await openShop(
    run,
    "kinds",
    [
      { name: "Own port", runtimeArgs: [...browserArgs, "--remote-debugging-port=0"] },
      { name: "Attach", request: "attach", port, browserAttachLocation: "workspace" },
      { name: "Default profile", userDataDir: false },
      { name: "Second", userDataDir: join(run.root, "second-profile") },
      {
        name: "Node",
        type: "node",
        program: "${workspaceFolder}/wait.mjs",
        runtimeExecutable: process.execPath,
        runtimeArgs: [],
      },
    ],
    { compounds: [{ name: "Both", configurations: ["Shop", "Second"], stopAll: true }] },
  );
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(await addressOf(run, shop.folder));
  listener = await Listener.dial(await addressOf(run, shop.folder));
});

afterEach(async () => {
  await window.stop();
  await listener.until(
    (state) => state.debugSessions.length === 0 && state.browser === null && state.pages.length === 0,
  );
});

afterAll(async () => {
  listener?.close();
  await screen?.close();
  await shop?.close();
  own?.kill();
});

test("a launch with the user's own port argument", async () => {
  await window.debug("Own port");
  const { browser } = await listener.until((state) => state.browser !== null);
  expect(browser?.via).toBe("configured");
});

test("an attach to the user's own browser, which outlives it", async () => {
  await window.debug("Attach");
  const { browser } = await listener.until((state) => state.browser !== null);
  expect(browser?.via).toBe("attached");
  await window.stop();
  await listener.until((state) => state.browser === null);
  expect(own.exitCode).toBeNull();
});

test("the default profile: pages by js-debug's shared CDP", async () => {
  await window.debug("Default profile");
  const { pages, browser, debugSessions } = await listener.until((state) => state.pages.length > 0);
  expect(browser).toBeNull();
  expect(pages[0]).toMatchObject({ url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:[0-9]+\/.+/) });
  expect(debugSessions.find(({ id }) => id === pages[0]?.debugSession)?.parent).toBe(debugSessions[0]?.id);
});

test("a compound: two browsers, the newest is told", async () => {
  await window.debug("Both");
  const roots = (state: typeof listener.state) => state.debugSessions.filter(({ parent }) => parent === undefined);
  const isWhole = (state: typeof listener.state) =>
    roots(state).length === 2 &&
    roots(state).every(({ id }) => state.debugSessions.some(({ parent }) => parent === id)) &&
    state.browser?.debugSession === roots(state)[1]?.id;
  const state = await listener.until(isWhole);
  const names = roots(state).map(({ name }) => name);
  expect(names.sort()).toEqual(["Second", "Shop"]);
});

test("Node's sessions are nothing to tell", async () => {
  const { revision } = listener.state;
  await window.debug("Node");
  await window.running();
  const { payload } = await listener.client.ask("state");
  expect(payload).toMatchObject({ state: { revision, debugSessions: [], browser: null } });
});

test("with the setting off nothing is added, and pages still come", async () => {
  const folder = await openShop(run, "opted-out");
  writeFileSync(join(folder.folder, ".vscode", "settings.json"), '{ "browserCoordinator.addDebuggingPort": false }');
  const optedOut = await Workbench.open(run, screen, `folder=${folder.folder}`);
  const address = await addressOf(run, folder.folder);
  await untilPresent(address);
  const its = await Listener.dial(address);
  await optedOut.press("F5");
  const { pages, browser } = await its.until((state) => state.pages.length > 0);
  expect(browser).toBeNull();
  expect(pages).toHaveLength(1);
  await optedOut.stop();
  its.close();
  await optedOut.close();
  await folder.close();
});
