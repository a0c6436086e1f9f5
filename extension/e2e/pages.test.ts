// A window whose debug browser has no port: clients join its pages, of the shared debug sessions, as a browser.
// The tests form one story: they run in their order.
import { chromium, type Page } from "playwright-core";
import puppeteer25 from "puppeteer-25";
import puppeteer24, { type Page as PuppeteerPage } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { chromedp, endpoint, windows } from "./support/coordinator";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("orchard", undefined, { "browserCoordinator.addDebuggingPort": "never" });
let shop: Shop;
let window: Workbench;
let listener: Listener;
let agent: Agent;
let stable: string;

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  agent = await Agent.start(run, shop.folder);
  stable = await endpoint(run, shop.folder);
});

afterAll(async () => {
  listener?.close();
  await agent?.close();
});

/** Does what stops at the breakpoint, and goes on in the editor. */
async function throughBreakpoint(act: () => Promise<unknown>): Promise<void> {
  const acted = act();
  acted.catch(() => {}); // awaited below
  await window.paused();
  await window.press("F5");
  await window.running();
  await acted;
}

test("without a port the window reports its pages, each with its own endpoint", async () => {
  await window.openFile("app.js");
  await window.press("F5");
  const state = await listener.debugging(({ pages }) => pages.length === 1);
  expect(state.browser).toBeNull();
  expect(state.pages[0]?.url).toMatch(/^ws:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]+$/);
  expect(await windows(run)).toMatchObject([{ workspace: shop.folder, browser: null, pages: 1 }]);
  await window.toggleBreakpoint(6); // console.log(thanks)
});

test("Playwright drives the page, stops at the breakpoint and follows a navigation", async () => {
  const browser = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  const [page] = browser.contexts().flatMap((context) => context.pages()) as [Page];
  expect(page.url()).toBe(`${shop.url}?orchard`);
  expect(await page.evaluate("6 * 7")).toBe(42);
  await page.locator("#name").fill("Ada");
  await throughBreakpoint(() => page.locator("#buy").click());
  expect(await page.locator("#answer").textContent()).toBe("Thank you, Ada");
  expect((await page.screenshot()).length).toBeGreaterThan(1000);
  await page.goto(`${shop.url}?playwright`);
  expect(await page.title()).toBe("Shop");
  expect(await page.locator("#answer").textContent()).toBe("");
  await page.evaluate(() => console.log("logged by Playwright"));
  await window.consoleShows("logged by Playwright");
  await browser.close();
});

test("Playwright opens and closes a page, and gets an error for what cannot be done", async () => {
  const browser = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  const [context] = browser.contexts();
  if (!context) throw new Error("Playwright sees no context");
  const page = await context.newPage();
  await page.goto(`${shop.url}?new`);
  expect(await page.title()).toBe("Shop");
  await page.close();
  await expect(browser.newContext()).rejects.toThrow("the window's debugger shares its pages only");
  expect(context.pages().map((each) => each.url())).toEqual([`${shop.url}?playwright`]);
  await browser.close();
  await listener.until(({ pages }) => pages.length === 1);
});

describe.for([
  ["24", puppeteer24],
  ["25", puppeteer25 as unknown as typeof puppeteer24], // the same, as far as these tests go
] as const)("Puppeteer %s", ([, puppeteer]) => {
  test("does so too, and opens a page that the debugger gets", async () => {
    const browser = await puppeteer.connect({ browserURL: stable, defaultViewport: null });
    const [page] = await browser.pages();
    if (!page) throw new Error("Puppeteer sees no page");
    expect(page.url()).toContain(shop.url);
    expect(await page.evaluate("6 * 7")).toBe(42);
    await page.type("#name", "Grace");
    await throughBreakpoint(() => page.click("#buy"));
    expect(await page.$eval("#answer", (element) => element.textContent)).toBe("Thank you, Grace");
    expect((await page.screenshot()).length).toBeGreaterThan(1000);
    await page.goto(`${shop.url}?puppeteer`);
    expect(await page.title()).toBe("Shop");

    const second = await browser.newPage();
    await second.goto(`${shop.url}?second`);
    expect(await second.title()).toBe("Shop");
    await listener.until(({ pages }) => pages.length === 2);
    await second.close();
    await listener.until(({ pages }) => pages.length === 1);
    expect((await browser.pages()).map((each) => each.url())).toEqual([`${shop.url}?puppeteer`]);
    await browser.disconnect();
  });

  test("gets every popup that a page opens, also of those that are sent nowhere", async () => {
    const browser = await puppeteer.connect({ browserURL: stable, defaultViewport: null });
    const [page] = await browser.pages();
    if (!page) throw new Error("Puppeteer sees no page");
    const before = page.url();
    for (const to of ["", "about:blank", "javascript:1", `${shop.url}?popup`]) {
      const opened = new Promise<PuppeteerPage | null>((resolve) => page.once("popup", resolve));
      await page.evaluate(`void open(${JSON.stringify(to)}, "_blank", "popup")`);
      const popup = await opened;
      expect(await popup?.evaluate("6 * 7")).toBe(42);
      await popup?.close();
      await listener.until(({ pages }) => pages.length === 1);
    }
    expect((await browser.pages()).map((each) => each.url())).toEqual([before]);
    await browser.disconnect();
  });

  test("leaves the page online, and as it was", async () => {
    const browser = await puppeteer.connect({ browserURL: stable, defaultViewport: null });
    const [page] = await browser.pages();
    if (!page) throw new Error("Puppeteer sees no page");
    const look =
      'fetch("?look").then(() => "online", () => "offline").then((net) => [net, navigator.onLine, innerWidth])';
    const before = await page.evaluate(look);
    await page.setOfflineMode(true);
    await page.setViewport({ width: 321, height: 400 });
    expect(await page.evaluate(look)).toEqual(["offline", false, 321]);
    await browser.disconnect();
    await expect.poll(() => agent.use("browser_evaluate", { function: `() => ${look}` })).toContain("online");
    const again = await puppeteer.connect({ browserURL: stable, defaultViewport: null });
    const [same] = await again.pages();
    expect(await same?.evaluate(look)).toEqual(before);
    await again.disconnect();
  });
});

test("chromedp opens its own tab beside the page", async () => {
  const seen = await chromedp(run, stable, `${shop.url}?chromedp`);
  expect(seen).toMatchObject({ title: "Shop", sum: 42 });
  expect(seen.pages).toContain(`${shop.url}?puppeteer`);
});

test("frames of another process and workers come with their page", async () => {
  const browser = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  const [page] = browser.contexts().flatMap((context) => context.pages()) as [Page];
  const worker = page.waitForEvent("worker");
  await page.goto(`${shop.url}frames.html`);
  const inside = page.frameLocator("iframe");
  await inside.locator("#name").fill("Edith");
  await inside.locator("#buy").click(); // the debugger knows no file for that site
  expect(await inside.locator("#answer").textContent()).toBe("Thank you, Edith");
  expect(await (await worker).evaluate("6 * 7")).toBe(42);
  const { pages, debugSessions } = await listener.until((state) => state.pages.length === 3);
  const parents = pages.map((each) => debugSessions.find(({ id }) => id === each.debugSession)?.parent);
  expect(parents.filter((parent) => parent === pages[0]?.debugSession)).toHaveLength(2);
  expect(await agent.use("browser_snapshot")).toContain("Thank you, Edith");

  await page.goto(`${shop.url}?puppeteer`);
  await listener.until((state) => state.pages.length === 1);
  expect(await page.locator("#answer").textContent()).toBe("");
  await browser.close();
});

test("an agent sees, clicks, evaluates and takes a picture", async () => {
  expect(await agent.use("browser_snapshot")).toContain('heading "Shop"');
  expect(await agent.use("browser_evaluate", { function: "() => location.href" })).toContain("?puppeteer");
  await agent.use("browser_type", { target: "#name", text: "Joan" });
  await throughBreakpoint(() => agent.use("browser_click", { element: "Buy", target: "#buy" }).catch(() => {}));
  expect(await agent.use("browser_snapshot")).toContain("Thank you, Joan");
  expect(await agent.use("browser_take_screenshot")).toContain("[image]");
  await agent.use("browser_tabs", { action: "new", url: `${shop.url}?tab` });
  expect(await agent.use("browser_snapshot")).toContain("?tab");
  await agent.use("browser_tabs", { action: "close" });
  expect(await agent.use("browser_tabs", { action: "list" })).toContain("?puppeteer");
});

test("Playwright and Puppeteer at once get their own answers", async () => {
  const one = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  const two = await puppeteer24.connect({ browserURL: stable, defaultViewport: null });
  const page = one.contexts().flatMap((context) => context.pages())[0];
  const [same] = await two.pages();
  const each = Array.from({ length: 50 }, (_, i) => i);
  const sums = await Promise.all(each.map((i) => page?.evaluate((n) => n + 1000, i)));
  const [left, right] = await Promise.all([
    Promise.all(each.map((i) => page?.evaluate((n) => n + 2000, i))),
    Promise.all(each.map((i) => same?.evaluate((n) => n + 3000, i))),
  ]);
  expect(sums).toEqual(each.map((i) => i + 1000));
  expect(left).toEqual(each.map((i) => i + 2000));
  expect(right).toEqual(each.map((i) => i + 3000));
  await one.close();
  expect(await same?.title()).toBe("Shop");
  await two.disconnect();
});

test("when they have left, the debugger stops, logs, and goes on as before", async () => {
  await agent.close();
  await window.evaluateInConsole("setTimeout(buy)");
  await window.paused();
  await window.screenshot("pages-breakpoint");
  await window.press("F5");
  await window.running();
  await window.consoleShows("Thank you, Joan", 2);
  await window.stop();
  await listener.until(({ pages, debugSessions }) => pages.length === 0 && debugSessions.length === 0);
});
