// What agents did, as the side bar lists it: a small client stands in for the coordinator.
import { afterAll, beforeAll, expect, test } from "vitest";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { agent, StandIn } from "./support/standin";
import type { Workbench } from "./support/workbench";

const scene = setScene("deli");
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
