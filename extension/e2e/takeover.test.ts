// The user takes over the browser in a real VS Code, types in one field while an agent's typing waits, and gives it
// back. The tests form one story: they run in their order.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";

const form = `<!doctype html><title>form</title>
<label>Yours <input id=yours></label><label>Mine <input id=mine></label>
<script>
const presses = []; // by the user, until the agent's typing begins
let began;
yours.onkeydown = ({ timeStamp }) => { if (began === undefined) presses.push(timeStamp); };
mine.onfocus = ({ timeStamp }) => began ??= timeStamp;
// A key may come while the typing begins: then the rest before it counts.
const rest = ([last, previous = last] = presses.toReversed()) => Math.max(began - last, last - previous);
</script>`;

const run = thisRun();
const scene = setScene("takeover", ({ folder }) => writeFileSync(join(folder, "form.html"), form));
let bar: SideBar;
let listener: Listener;
let agent: Agent;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  listener = await Listener.dial(scene.address);
  agent = await Agent.start(run, scene.shop.folder);
  bar = await SideBar.open(scene.window);
  await scene.window.press("F5");
  const state = await listener.debugging(({ browser }) => browser !== null);
  browser = await chromium.connectOverCDP(state.browser?.url ?? "", { timeout: 60_000 });
  page = browser.contexts()[0]?.pages()[0] as Page;
  await page.goto(`${scene.shop.url}form.html`);
  await agent.use("browser_snapshot");
});

afterAll(async () => {
  await browser?.close();
  await agent?.close();
  listener?.close();
});

function values(): Promise<string[]> {
  return Promise.all(["#yours", "#mine"].map((field) => page.locator(field).inputValue()));
}

/** The window notifies the coordinator as it notifies us: so ask the one that applies it. */
async function untilTaken(taken: boolean): Promise<void> {
  await listener.until(({ access }) => (access.takenOver === true) === taken);
  await expect.poll(async () => (await agent.use("window_list")).includes("[the user has taken over]")).toBe(taken);
}

test("while the user types in one field, the agent's typing in the other waits", async () => {
  const { window } = scene;
  await window.command("Browser Coordinator: Take Over the Browser");
  await untilTaken(true);
  await window.status.getByText("You drive").waitFor();
  const typed = agent.use("browser_type", { target: "#mine", text: "from the agent", slowly: true });
  await page.locator("#yours").pressSequentially("from the user");
  expect(await agent.use("browser_snapshot")).toContain("from the user");
  expect(await values()).toEqual(["from the user", ""]);
  await window.screenshot("taken-over");
  await window.command("Browser Coordinator: Give Back the Browser");
  expect(await typed).toContain("The user took over the browser and has given it back");
  expect(await values()).toEqual(["from the user", "from the agent"]);
  await window.status.getByText("Browser", { exact: true }).waitFor();
});

test("while the user types without taking over, the agent's typing waits until they rest", async () => {
  await page.goto(`${scene.shop.url}form.html`);
  await agent.use("browser_snapshot");
  await page.locator("#yours").pressSequentially("f");
  const typed = agent.use("browser_type", { target: "#mine", text: "from the agent", slowly: true });
  await page.locator("#yours").pressSequentially("rom the user", { delay: 50 });
  await typed;
  expect(await page.evaluate("rest()")).toBeGreaterThanOrEqual(999);
  // On a busy machine a key may come so late that the user has rested before it.
  const isComplete = await page.evaluate("presses.length === 13");
  if (isComplete) expect(await values()).toEqual(["from the user", "from the agent"]);
});

test("the button of the Browser view and the menu do the same", async () => {
  const { window } = scene;
  const button = (label: string) => bar.pane("Browser").locator(`.actions a[aria-label^="${label}"]`);
  await window.retry(async (timeout) => {
    await bar.pane("Browser").hover({ timeout });
    await button("Take Over the Browser").click({ timeout });
  });
  await untilTaken(true);
  await bar.menu("Give Back the Browser");
  await untilTaken(false);
});

test("so does the button of the live view, which shows who drives", async () => {
  const { window } = scene;
  await window.command("Browser Coordinator: Open Live View");
  const button = window.webview("Live View").getByRole("button", { name: "Take Over" });
  await button.click();
  await untilTaken(true);
  await expect.poll(() => button.getAttribute("aria-pressed")).toBe("true");
  await window.screenshot("live-view-taken-over");
  await bar.menu("Give Back the Browser");
  await untilTaken(false);
  await expect.poll(() => button.getAttribute("aria-pressed")).toBe("false");
});
