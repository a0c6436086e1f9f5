// The main job: an agent and other CDP clients join the very browser that a person debugs.
// The tests form one story: they run in their order.
import { type BrowserContext, chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { chromedp, endpoint, windows } from "./support/coordinator";
import { untilAbsent, untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("garden");
let screen: BrowserContext;
let shop: Shop;
let other: Shop;
let window: Workbench;
let listener: Listener;
let agent: Agent;
let address: string;
let stable: string;

/** The pages that Playwright sees through an endpoint. */
async function pagesThrough(address: string): Promise<string[]> {
  const browser = await chromium.connectOverCDP(address, { timeout: 60_000 });
  try {
    return browser.contexts().flatMap((context) => context.pages().map((page) => page.url()));
  } finally {
    await browser.close(); // only the connection
  }
}

beforeAll(async () => {
  ({ screen, address, shop, window } = scene);
  other = await openShop(run, "kitchen");
  listener = await Listener.dial(address);
  agent = await Agent.start(run, shop.folder);
  stable = await endpoint(run, shop.folder);
});

afterAll(async () => {
  listener?.close();
  await agent?.close();
  await other?.close();
});

test("the coordinator lists the window, without a browser before F5 and with it after", async () => {
  expect(stable).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/?$/);
  expect(await windows(run)).toMatchObject([{ address, workspace: shop.folder, kind: "vscode", browser: null }]);

  await window.openFile("app.js");
  await window.press("F5");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  const [row] = await windows(run);
  expect(row?.browser?.url).toBe(browser?.url);
  expect(row?.endpoint.url.replace(/\/$/, "")).toBe(stable.replace(/\/$/, ""));
});

test("an agent that was started in the folder drives the page that is being debugged", async () => {
  expect(await agent.tools()).toEqual(expect.arrayContaining(["window_list", "browser_snapshot", "browser_click"]));
  expect(await agent.use("window_list")).toContain(shop.folder);
  const snapshot = await agent.use("browser_snapshot");
  expect(snapshot).toContain('heading "Shop"');
  expect(await agent.use("browser_evaluate", { function: "() => location.href" })).toContain(`${shop.url}?garden`);
  // What the page asked for before the agent's first call is known.
  const requests = await agent.use("browser_network_requests", { static: true });
  expect(requests).toContain(`GET ${shop.url}?garden => 200`);
  expect(requests).toMatch(/GET \S+app\.js => 200/);
});

test("a breakpoint set in the editor stops what the agent does, and the agent goes on after it", async () => {
  await window.toggleBreakpoint(6); // console.log(thanks)
  await agent.use("browser_type", { target: "#name", text: "Ada" });
  const clicked = agent.use("browser_click", { element: "Buy", target: "#buy" }).then(
    (text) => ({ text }),
    (error: Error) => ({ text: error.message }),
  );
  await window.paused();
  await window.screenshot("breakpoint");
  await window.press("F5");
  await window.running();
  expect((await clicked).text).not.toBe("");
  expect(await agent.use("browser_snapshot")).toContain("Thank you, Ada");
  // By the workspace's file, as the editor shows it.
  expect(await agent.use("browser_console_messages")).toContain("Thank you, Ada @ app.js:6:");
  expect(await agent.use("browser_take_screenshot")).toContain("[image]");
});

test("Playwright joins the same page through the stable endpoint", async () => {
  const browser = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  const pages = browser.contexts().flatMap((context) => context.pages());
  const page = pages.find((each) => each.url() === `${shop.url}?garden`);
  expect(await page?.locator("#answer").textContent()).toBe("Thank you, Ada");
  await browser.close();
});

test("Puppeteer joins the same page through the stable endpoint", async () => {
  const browser = await puppeteer.connect({ browserURL: stable, defaultViewport: null });
  const pages = await browser.pages();
  const page = pages.find((each) => each.url() === `${shop.url}?garden`);
  expect(await page?.$eval("#answer", (element) => element.textContent)).toBe("Thank you, Ada");
  await browser.disconnect();
});

test("chromedp joins the same browser through the stable endpoint", async () => {
  const seen = await chromedp(run, stable, `${shop.url}?chromedp`);
  expect(seen).toMatchObject({ title: "Shop", sum: 42 });
  expect(seen.pages).toContain(`${shop.url}?garden`);
});

test("the debug session and its browser outlive all of them", async () => {
  const { browser, debugSessions } = listener.state;
  expect(browser).not.toBeNull();
  expect(debugSessions[0]?.name).toBe("Shop");
  expect(await agent.use("browser_snapshot")).toContain("Thank you, Ada");
});

test("a new debug session moves to its new browser at the same address", async () => {
  const before = listener.state.browser?.url;
  await window.stop();
  await listener.until((state) => state.browser === null && state.debugSessions.length === 0);
  const held = pagesThrough(stable); // comes while there is no browser, and waits for it
  held.catch(() => {}); // awaited below
  await window.press("F5");
  await listener.debugging((state) => state.browser !== null && state.browser.url !== before);
  expect(await held).toContain(`${shop.url}?garden`);
  expect(await endpoint(run, shop.folder)).toBe(stable);
  expect(await pagesThrough(stable)).toContain(`${shop.url}?garden`);
  const answer = { function: "() => document.getElementById('answer').textContent" };
  const elsewhere = /another browser than that of your last answer.*Nothing was done/;
  await expect(agent.use("browser_evaluate", answer)).rejects.toThrow(elsewhere);
  expect(await agent.use("browser_evaluate", answer)).not.toContain("Ada");
});

test("a second window on another folder keeps its own browser: nothing crosses", async () => {
  const second = await Workbench.open(run, screen, `folder=${other.folder}`);
  const otherAddress = await addressOf(run, other.folder);
  await untilPresent(otherAddress);
  const its = await Listener.dial(otherAddress);
  const helper = await Agent.start(run, other.folder);
  try {
    await second.press("F5");
    const { browser } = await its.debugging((state) => state.browser !== null);
    expect(browser?.url).not.toBe(listener.state.browser?.url);
    expect(listener.state.debugSessions.every(({ name }) => !name.includes("kitchen"))).toBe(true);

    const otherStable = await endpoint(run, other.folder);
    expect(otherStable).not.toBe(stable);
    const [mine, theirs] = await Promise.all([pagesThrough(stable), pagesThrough(otherStable)]);
    expect(mine).toContain(`${shop.url}?garden`);
    expect(theirs).toContain(`${other.url}?kitchen`);
    expect(mine.join()).not.toContain("kitchen");
    expect(theirs.join()).not.toContain("garden");

    await helper.use("browser_type", { target: "#name", text: "Grace" });
    await helper.use("browser_click", { element: "Buy", target: "#buy" });
    expect(await helper.use("browser_snapshot")).toContain("Thank you, Grace");
    expect(await agent.use("browser_snapshot")).not.toContain("Grace");

    await second.stop();
    await its.until((state) => state.browser === null);
    expect(listener.state.browser).not.toBeNull();
    expect(await agent.use("browser_evaluate", { function: "() => location.href" })).toContain("?garden");
  } finally {
    its.close();
    await helper.close();
    await second.close();
  }
  await untilAbsent(otherAddress);
});

test("stopping clears the endpoint, and closing the window removes it", async () => {
  await window.stop();
  await listener.until((state) => state.browser === null && state.debugSessions.length === 0);
  expect(await windows(run)).toMatchObject([{ address, browser: null }]);
  await window.close();
  await untilAbsent(address);
  expect(await windows(run)).toEqual([]);
});
