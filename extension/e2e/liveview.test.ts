// The live view in a real VS Code: the human watches the page of a headless debug browser.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type FrameLocator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { untilPresent } from "./support/files";
import { openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = inject("run");
const command = "Browser Coordinator: Open Live View";
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let listener: Listener;
let browser: Browser | undefined;

function panel(): FrameLocator {
  return window.webview("Live View");
}

/** The colour of a part of what the human sees of the panel: a screenshot, not what the panel says. */
async function colour(x: number, y: number): Promise<number[]> {
  const shot = await panel().locator("#canvas").screenshot();
  // A string, since only the browser knows these.
  return window.page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${shot.toString("base64")}"), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    return [...context.getImageData(${x} * picture.width, ${y} * picture.height, 1, 1).data].slice(0, 3);
  })()`);
}

/** Waits until the panel has nearly that colour there. */
async function untilColour(x: number, y: number, wanted: number[]): Promise<void> {
  const near = (seen: number[]) => wanted.every((part, index) => Math.abs(part - (seen[index] ?? 0)) < 12);
  await expect.poll(async () => near(await colour(x, y).catch(() => [])), { timeout: 15_000 }).toBe(true);
}

async function joinPage(): Promise<Page> {
  const { browser: endpoint } = await listener.debugging((each) => each.browser !== null);
  browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 20_000 });
  const found = browser.contexts()[0]?.pages()[0];
  if (!found) throw new Error("the browser has no page");
  return found;
}

beforeAll(async () => {
  screen = await openScreen(run);
  shop = await openShop(run, "live");
  for (const [name, colours] of Object.entries({
    warm: "rgb(200,30,60) 50%, rgb(250,180,20) 50%",
    cold: "rgb(20,90,200) 50%, rgb(20,160,120) 50%",
  })) {
    const style = `margin:0;height:100vh;background:linear-gradient(90deg, ${colours})`;
    writeFileSync(join(shop.folder, `${name}.html`), `<!doctype html><title>${name}</title><body style="${style}">`);
  }
  const address = await addressOf(run, shop.folder);
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  listener = await Listener.dial(address);
});

afterAll(async () => {
  await browser?.close();
  listener?.close();
  await screen?.close();
  await shop?.close();
});

test("without a browser it says what to do, and its button does it", async () => {
  await window.command(command);
  await panel().getByText("No browser is being debugged in this window.").waitFor();
  await window.screenshot("live-view-empty");
  await panel().getByRole("button", { name: "Start Debugging" }).click();
  await listener.debugging((state) => state.browser !== null);
  await panel().locator("#address", { hasText: shop.url }).waitFor();
});

test("it shows the page as it is, and follows its navigation", async () => {
  const page = await joinPage();
  await page.goto(`${shop.url}warm.html`);
  await panel().locator("#address", { hasText: "warm.html" }).waitFor();
  await untilColour(0.25, 0.5, [200, 30, 60]);
  await untilColour(0.75, 0.5, [250, 180, 20]);
  await window.screenshot("live-view");
  await page.goto(`${shop.url}cold.html`);
  await untilColour(0.25, 0.5, [20, 90, 200]);
  await untilColour(0.75, 0.5, [20, 160, 120]);
});

test("a click of the agent is marked where it was", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  const [width, height] = await page.evaluate<[number, number]>("[innerWidth, innerHeight]");
  const ring = panel().locator(".click");
  await page.mouse.click(width * 0.25, height * 0.5);
  await ring.waitFor();
  const style = await ring.evaluate(
    (element) => (element as unknown as { style: { left: string; top: string } }).style,
  );
  expect([Number.parseFloat(style.left), Number.parseFloat(style.top)]).toEqual([
    expect.closeTo(25, 0),
    expect.closeTo(50, 0),
  ]);
  await window.screenshot("live-view-click");
  await ring.waitFor({ state: "detached" });
});

test("of several pages the human chooses one", async () => {
  const context = browser?.contexts()[0] as BrowserContext;
  const second = await context.newPage();
  await second.goto(`${shop.url}warm.html`);
  await untilColour(0.25, 0.5, [200, 30, 60]); // the newest, as long as nobody chose
  await panel().locator("#pages").selectOption({ label: "cold" });
  await untilColour(0.25, 0.5, [20, 90, 200]);
  await second.close();
});

test("out of sight it rests, and comes back with the page as it is then", async () => {
  await window.openFile("app.js"); // in the panel's own group, above it
  await window.page.locator("iframe.webview").waitFor({ state: "hidden" });
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  await page.goto(`${shop.url}warm.html`);
  await window.tab("Live View").click();
  await untilColour(0.75, 0.5, [250, 180, 20]);
});

test("it is back after a reload of the window, and empty when the browser ends", async () => {
  await browser?.close();
  browser = undefined;
  await window.stop();
  await panel().getByText("No browser is being debugged in this window.").waitFor();
  await window.reload();
  await panel().getByText("No browser is being debugged in this window.").waitFor();
});
