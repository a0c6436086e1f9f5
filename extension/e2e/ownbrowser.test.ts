// The browser that the user works in takes the place of the debug browser: with its question, the user's own tabs
// and the mode "ask". The tests form one story: they run in their order.
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pause } from "../src/core/sight";
import { Agent } from "./support/agent";
import { endpoint, windows } from "./support/coordinator";
import { Desktop } from "./support/desktop";
import { commandLine, marked, markVariable } from "./support/processes";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("attic");
const profile = join(run.root, "config", "chromium"); // where the coordinator looks for it
let shop: Shop;
let window: Workbench;
let listener: Listener;
let bar: SideBar;
let desktop: Desktop;
let agent: Agent;

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  bar = await SideBar.open(window);
  desktop = await Desktop.start(run);
  await desktop.browser(
    run,
    profile,
    "data:text/html,<title>My bank</title>",
    "data:text/html,<title>My mail</title>",
    `${shop.url}?mine`,
  );
  agent = await Agent.start(run, shop.folder);
});

afterAll(async () => {
  await agent?.close();
  listener?.close();
  await desktop?.close();
});

test("Use My Chrome asks once in Chrome, and the window has a part of it that agents must ask to change", async () => {
  const used = listener.until((state) => state.browser?.via === "personal");
  await window.command("Browser Coordinator: Use My Chrome");
  await desktop.allow(used);
  const { browser, access } = await used;
  expect(browser?.product).toMatch(/Chrom/);
  expect(access.mode).toBe("ask");
  expect(await windows(run)).toMatchObject([{ browser: { url: browser?.url, via: "personal" } }]);
  await bar.row("Browser", /Chrom(e|ium) [0-9]+\s*your own browser/).waitFor();
  await window.screenshot("own-browser");
});

test("an agent gets a tab of its own, once the user has allowed it", async () => {
  const opened = agent.use("browser_navigate", { url: `${shop.url}?agent` });
  await window.toast("wants to act").waitFor();
  await window.command("Browser Coordinator: Allow Once");
  expect(await opened).toContain("?agent");
  const tabs = await agent.use("browser_tabs", { action: "list" });
  expect(tabs).toContain("?agent");
  expect(tabs).not.toMatch(/mine|My bank/);
});

test("the user hands a tab over: that of a running server is first in the list", async () => {
  await window.choose((timeout) => window.tryCommand("Browser Coordinator: Hand a Tab to Agents", timeout));
  const first = window.page.locator(".quick-input-list .monaco-list-row").first();
  await first.getByText(new URL(shop.url).origin).waitFor();
  await window.rows("My bank").waitFor();
  await window.screenshot("own-browser-tabs");
  await setTimeout(pause);
  await first.click();
  await window.toast("Agents may use the tab").waitFor();
  const tabs = await agent.use("browser_tabs", { action: "list" });
  expect(tabs).toContain("?mine");
  expect(tabs).not.toContain("My bank");
});

test("an agent asks for a tab, and the user chooses one", async () => {
  const asked = agent.use("browser_tabs", { action: "request", url: "https://bank.example/account" });
  await window.toast("wants to use a tab that you choose next, if possible one of bank.example").waitFor();
  const bank = window.rows("My bank");
  await window.choose(async (timeout) => {
    if (!(await bank.isVisible())) await window.tryCommand("Browser Coordinator: Allow Once", timeout);
    await bank.waitFor({ timeout });
    await setTimeout(pause);
  }, "My bank");
  expect(await asked).toMatch(/My bank.*\(current\)/);

  const refused = agent.use("browser_tabs", { action: "request" }).catch((error: Error) => error.message);
  await window.toast("wants to use a tab that you choose next.").waitFor();
  await window.command("Browser Coordinator: Refuse");
  expect(await refused).toContain("hands over no tab");
});

test("other agents and clients of the endpoint share the connection, and are asked about", async () => {
  const second = await Agent.start(run, shop.folder);
  expect(await second.use("browser_tabs", { action: "list" })).toContain("?mine");
  await second.close();
  const address = await endpoint(run, shop.folder);
  const joining = chromium.connectOverCDP(address, { timeout: 120_000 });
  await window.toast("wants to control this browser").waitFor();
  await window.command("Browser Coordinator: Allow a CDP Client to Control the Browser");
  const browser = await joining;
  try {
    const pages = browser.contexts().flatMap((context) => context.pages().map((page) => page.url()));
    expect(pages.some((url) => url.endsWith("?mine"))).toBe(true);
    expect(pages.some((url) => url.includes("My mail"))).toBe(false);
  } finally {
    await browser.close();
  }
  expect(desktop.asks).toBe(false);
});

test("Use the Debug Browser gives the window back to F5, with the mode as it was", async () => {
  const left = listener.until((state) => state.browser === null);
  await window.command("Browser Coordinator: Use the Debug Browser");
  await left;
  expect((await listener.until((state) => state.access.mode === "full")).browser).toBeNull();
  await window.openFile("app.js");
  await window.press("F5");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser?.via).toBe("injected");
  await window.stop();
});

test("when the connected program is killed, the user is told, and Chrome asks only if they want it again", async () => {
  const used = listener.until((state) => state.browser?.via === "personal");
  await window.command("Browser Coordinator: Use My Chrome");
  await desktop.allow(used);
  await used;
  const left = listener.until((state) => state.browser === null);
  const pid = marked(run.env[markVariable] ?? "").find((each) => commandLine(each).includes("\0attach\0"));
  if (pid === undefined) throw new Error("no program has the connection");
  process.kill(pid, "SIGKILL");
  expect((await left).browser).toBeNull();
  await window.toast("The window no longer uses your own browser: the program that connected has ended.").waitFor();
  expect(desktop.asks).toBe(false);
  expect((await listener.until((state) => state.access.mode === "full")).browser).toBeNull();
});
