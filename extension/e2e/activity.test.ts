// What agents did, as the side bar lists it: a small client stands in for the coordinator, and at the end a real agent
// comes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { agent, StandIn } from "./support/standin";
import type { Workbench } from "./support/workbench";

const words = "no stock [Sell](command:workbench.action.closeWindow) **now**";
const program = `document.getElementById("buy").addEventListener("click", async () => {
  await fetch("/stock");
  throw new Error("${words}");
});
`;

const scene = setScene("deli", (shop) => writeFileSync(join(shop.folder, "app.js"), program));
let window: Workbench;
let bar: SideBar;
let coordinator: StandIn;

const claude = agent("c1", "Claude Code");
const cursor = agent("c2", "Cursor");
const playwright = agent("p1", "Playwright", "cdp");

beforeAll(async () => {
  ({ window } = scene);
  coordinator = await StandIn.dial(scene.address);
  bar = await SideBar.open(window);
});

afterAll(async () => {
  coordinator?.close();
});

/** The rows of Activity as they are read, from the top. */
function read(): Promise<string[]> {
  return bar.pane("Activity").locator(".monaco-list-row").allInnerTexts();
}

test("actions are read first and the newest is on top; a CDP client's commands are one row", async () => {
  await window.press("F5");
  await coordinator.debugging((state) => state.browser !== null);
  await coordinator.announce(claude, cursor, playwright);
  const { url } = scene.shop;
  await coordinator.report(claude, "browser_navigate", { target: url, url });
  await coordinator.report(claude, "browser_snapshot", { url });
  await coordinator.report(claude, "browser_type", { target: 'textbox "Coupon"', url });
  await coordinator.report(claude, "browser_evaluate", { ok: false, outcome: "refused", url });
  for (let i = 0; i < 50; i++) {
    await coordinator.report(playwright, "Runtime.evaluate");
    await coordinator.report(playwright, "DOM.focus", i === 49 ? { ok: false, outcome: "refused: view" } : {});
  }
  await coordinator.report(cursor, "browser_click", { target: 'button "Pay"', url });
  await coordinator.report(claude, "browser_click", { target: 'button "Order"', url });
  await bar.row("Activity", 'Click button "Order"').waitFor();
  const time = "[0-9]{2}:[0-9]{2}:[0-9]{2}";
  const expected = [
    `^Click button "Order"\\s*Claude Code · ${time}$`,
    `^Click button "Pay"\\s*Cursor · ${time}$`,
    `^100 commands\\s*1 failed · Playwright · ${time}$`,
    `^Evaluate\\s*refused · Claude Code · ${time}$`,
    `^Type textbox "Coupon"\\s*Claude Code · ${time}$`,
  ];
  const rows = (await read()).map((text) => text.trim());
  for (const [index, text] of expected.entries()) expect(rows[index]).toMatch(new RegExp(text));
  for (const width of [180, 600, 300]) {
    await bar.resize(width);
    await window.picture(`activity-${width}`, bar.part);
  }
  await bar.row("Activity", "100 commands").click();
  await bar.row("Activity", /DOM\.focus\s*[0-9:]{8}$/).waitFor();
  await bar.row("Activity", /DOM\.focus\s*refused: view/).waitFor();
  await window.picture("activity-group", bar.part);
  await bar.row("Activity", "100 commands").click();
});

test("the view that has the most to show is the tallest at first", async () => {
  const height = async (name: string) => (await bar.pane(name).boundingBox())?.height ?? 0;
  expect(await height("Activity")).toBeGreaterThan(1.5 * (await height("Agents")));
  expect(await height("Agents")).toBeGreaterThan(await height("Browser"));
});

test("it is filtered by agent, and shows by whom", async () => {
  const filter = bar.pane("Activity").getByRole("button", { name: "Filter Activity by Agent" });
  await window.choose(async (timeout) => {
    await bar.pane("Activity").hover({ timeout });
    await filter.click({ timeout });
  }, "Cursor");
  await expect.poll(read).toEqual([expect.stringMatching(/^\s*Click button "Pay"\s*[0-9:]{8}\s*$/)]);
  await bar.pane("Activity").locator(".pane-header .description", { hasText: "Cursor" }).waitFor();
  await window.picture("activity-filtered", bar.part);
  await window.chooseFrom("Filter Activity by Agent", "All agents");
  await bar.row("Activity", "Order").waitFor();
});

test("the mode is shown and changed by its row, and nowhere else in the view", async () => {
  await window.retry(async (timeout) => {
    await bar.row("Agents", /Agents can do everything\s*change/).click({ timeout });
    await window.rows(/everything.*now/, ".focused").waitFor({ timeout });
  });
  await window.press("Escape");
  const buttons = bar.pane("Agents").getByRole("button", { name: "Change What Agents May Do" });
  await bar.pane("Agents").hover();
  expect(await buttons.count()).toBe(0);
});

describe("of a real agent", () => {
  let real: Agent;
  const script = "() => new Promise((done) => {\n  globalThis.finish = done;\n})";
  const tab = (name: string) => window.page.locator(".tab.active", { hasText: name });

  beforeAll(async () => {
    real = await Agent.start(thisRun(), scene.shop.folder, "--caps", "testing");
    await real.use("browser_snapshot");
  });

  afterAll(() => real?.close());

  test("what runs is on top, with its script, until it ends", async () => {
    const { page } = window;
    const runs = real.use("browser_evaluate", { function: script });
    const row = bar.row("Activity", /\(\) => new Promise.*\s*Evaluate · running · e2e-agent · since [0-9:]{8}/);
    await row.waitFor();
    expect((await read())[0]).toMatch(/running/);
    await row.click();
    await bar.row("Activity", /Script/).click();
    await tab("script.js").waitFor();
    await page.locator(".editor-instance .view-line", { hasText: "globalThis.finish = done;" }).click();
    await page.keyboard.type("x");
    expect(await page.locator(".tab.dirty").count()).toBe(0);
    await window.picture("activity-running", bar.part);
    await real.use("browser_evaluate", { function: "() => finish()" });
    await runs;
    await row.waitFor({ state: "detached" });
  });

  test("an action has who allowed it, what followed it and where that is, and a picture of the page", async () => {
    const { page } = window;
    await real.use("browser_click", { target: "#buy" });
    const click = bar.row("Activity", /Click button "Buy"\s*2 problems · e2e-agent/);
    await click.waitFor();
    await window.retry(async (timeout) => {
      await page.mouse.move(0, 0);
      await click.hover({ timeout });
      await page.locator('.monaco-hover img[src^="data:image/jpeg"]').waitFor({ timeout });
    });
    const hover = page.locator(".monaco-hover", { has: page.locator("img") });
    const width = "document.querySelector('.monaco-hover img').naturalWidth";
    await expect.poll(() => page.evaluate<number>(width)).toBeGreaterThan(100);
    await hover.getByText("[Sell] (command:workbench.action.closeWindow) **now**").waitFor();
    expect(await hover.locator("a, strong").count()).toBe(0); // a page's words are no Markdown
    await window.screenshot("activity-picture");
    await click.click();
    await bar.row("Activity", /Allowed by\s*The mode: agents can do everything/).waitFor();
    await bar.row("Activity", /Duration\s*[0-9.]+ s/).waitFor();
    await bar.row("Activity", /Failed request\s*GET \/stock → 404/).waitFor();
    await window.picture("activity-details", bar.part);
    await bar.row("Activity", /Error\s*.*no stock/).click();
    await tab("app.js").waitFor();
    await page.locator(".statusbar-item", { hasText: "Ln 3" }).waitFor();
    await bar.row("Activity", /Picture/).click();
    await tab("picture.jpg").waitFor();
  });

  test("what it did is exported as a test, which is opened and not saved", async () => {
    await bar.choose("Activity", /Click button "Buy"\s*2 problems/, "Export Activity as a Test...");
    await tab("Untitled-1").waitFor();
    const line = (text: string) => window.page.locator(".editor-instance .view-line", { hasText: text });
    await line("import { test, expect } from '@playwright/test';").waitFor();
    await line("getByRole('button', { name: 'Buy'").waitFor();
  });

  test("an agent whose actions are not recorded exports none, and the reason is shown", async () => {
    const other = await Agent.start(thisRun(), scene.shop.folder);
    await other.use("browser_snapshot");
    await real.close();
    await coordinator.announce();
    await expect.poll(() => bar.pane("Agents").locator(".monaco-list-row").count()).toBe(3); // it alone is connected
    await window.command("Export Activity as a Test...");
    const refusal = /exports no test: what it does is not recorded\. Start its program with --caps/;
    await window.page.locator(".notification-toast", { hasText: refusal }).waitFor();
    await other.close();
  });

  test("a picture that is open stays so over a reload of the window", async () => {
    await bar.row("Activity", /Picture/).click();
    await tab("picture.jpg").waitFor();
    await window.reload();
    await tab("picture.jpg").waitFor();
    const picture = window.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame").locator("img");
    await picture.waitFor();
    await window.screenshot("activity-picture-reloaded");
  });
});
