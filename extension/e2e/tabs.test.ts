// The tabs of agents beside the user's, in a real VS Code: who works where, what ends with an agent, and
// what the user does with them.
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Cdp } from "../src/core/browser/cdp";
import { listPages } from "../src/core/browser/pages";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener, roots } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("tabs");
let shop: Shop;
let window: Workbench;
let listener: Listener;
let bar: SideBar;
const agents: Agent[] = [];

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  bar = await SideBar.open(window);
});

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
});

afterAll(() => listener?.close());

async function arrives(): Promise<Agent> {
  const agent = await Agent.start(run, shop.folder);
  agents.push(agent);
  return agent;
}

async function debugging(): Promise<void> {
  if (!listener.state.browser) await window.press("F5");
  await listener.debugging((state) => state.browser !== null);
}

/** Waits until the debugger has so many pages. */
async function pagesAre(count: number): Promise<void> {
  await listener.until(({ debugSessions }) => debugSessions.filter(({ parent }) => parent).length === count);
}

async function withPages(act: (find: (part: string) => Page) => Promise<void>): Promise<void> {
  const user: Browser = await chromium.connectOverCDP(listener.state.browser?.url ?? "", { timeout: 60_000 });
  try {
    const pages = user.contexts().flatMap((context) => context.pages());
    await act((part) => pages.find((page) => page.url().includes(part)) as Page);
  } finally {
    await user.close();
  }
}

/** Whether the user sees a page. A client of Playwright would make all believe that they are seen. */
async function visibility(part: string): Promise<unknown> {
  const url = listener.state.browser?.url ?? "";
  const cdp = await Cdp.connect(url);
  try {
    const targetId = (await listPages(url)).find((page) => page.url.includes(part))?.id;
    const { sessionId } = await cdp.call("Target.attachToTarget", { targetId, flatten: true });
    const expression = { expression: "document.visibilityState" };
    return ((await cdp.call("Runtime.evaluate", expression, String(sessionId))).result as { value: unknown }).value;
  } finally {
    cdp.close();
  }
}

const mine = () => ({ action: "new", url: `${shop.url}?mine` });

test("all that an agent did is listed, also when it leaves at once", async () => {
  await debugging();
  const agent = await arrives();
  for (const target of ["#buy", "#name", "h1", "#answer"]) await agent.use("browser_click", { target });
  await agent.close();
  await expect.poll(() => bar.pane("Activity").locator(".monaco-list-row").count()).toBe(4);
});

test("a second agent reads the user's page, and acts in its own tab, which ends with it", async () => {
  await debugging();
  const [first, second] = [await arrives(), await arrives()];
  await first.use("browser_type", { target: "#name", text: "Ada" });
  expect(await second.use("browser_snapshot")).toMatch(/Another agent \(.*\) works in the tab.*"Your name".*Ada/s);
  expect(await second.use("browser_console_messages")).toContain("is ready");
  expect(await second.use("browser_take_screenshot")).toContain("[image]");
  const refused = second.use("browser_click", { target: "#buy" });
  await expect(refused).rejects.toThrow(
    /another agent \(.*\) works in the tab "Shop", so nothing was done.*action new/,
  );
  await pagesAre(1);
  await second.use("browser_tabs", mine());
  await second.use("browser_type", { target: "#name", text: "Grace" });
  await second.use("browser_click", { target: "#buy" });
  expect(await second.use("browser_snapshot")).toContain("Thank you, Grace");
  expect(await first.use("browser_snapshot")).not.toContain("Grace");
  await pagesAre(2);
  await bar.row("Browser", "?mine").waitFor();
  await window.screenshot("tabs-two-agents");
  await second.close();
  await pagesAre(1);
  await bar.row("Browser", "?mine").waitFor({ state: "detached" });
  expect(await first.use("browser_tabs", { action: "list" })).not.toContain("mine");
});

test("in view a second agent reads too, and no tab is opened", async () => {
  await debugging();
  const [first, second] = [await arrives(), await arrives()];
  await first.use("browser_click", { target: "#name" });
  await bar.menu("Agents can do everything", "Agents can only view");
  await listener.until(({ access }) => access.mode === "view");
  expect(await second.use("browser_snapshot")).toContain("Your name");
  expect(await second.use("browser_find", { text: "Buy" })).toContain("Buy");
  await expect(second.use("browser_tabs", mine())).rejects.toThrow("view");
  await expect(second.use("browser_click", { target: "#buy" })).rejects.toThrow("view");
  await pagesAre(1);
  await bar.menu("Agents can only view", "Agents can do everything");
  await listener.until(({ access }) => access.mode === "full");
});

test("a page's row reloads it, brings it to the front, and closes it", async () => {
  await debugging();
  const agent = await arrives();
  await agent.use("browser_tabs", mine());
  await bar.row("Browser", "?mine").waitFor();
  await withPages(async (find) => {
    const page = find("?mine");
    await page.evaluate("globalThis.stale = true");
    await bar.act("Browser", "?mine", "Reload Page");
    await expect.poll(() => page.evaluate("globalThis.stale")).toBeUndefined();
  });
  expect(await visibility("?tabs")).toBe("visible");
  await bar.choose("Browser", "?mine", "Bring Page to Front");
  await expect.poll(() => visibility("?tabs")).toBe("hidden");
  await bar.row("Browser", "?mine").hover();
  await window.screenshot("tabs-page-row");
  await bar.act("Browser", "?mine", "Close Page");
  await pagesAre(1);
  await bar.row("Browser", "?mine").waitFor({ state: "detached" });
  await expect(agent.use("browser_click", { target: "#buy" })).rejects.toThrow("was closed");
});

test("Stop ends the browser, also with an agent's tab open; a page that is closed ends nothing else", async () => {
  await debugging();
  const agent = await arrives();
  await agent.use("browser_tabs", mine());
  await pagesAre(2);
  await window.press("Shift+F5");
  await listener.until((state) => state.debugSessions.length === 0 && state.browser === null);
  await window.page.locator(".debug-toolbar").waitFor({ state: "hidden" });

  await debugging();
  await agent.use("browser_tabs", mine());
  await pagesAre(2);
  await withPages((find) => find("?tabs").close()); // the page that the launch opened
  await pagesAre(1);
  expect(roots(listener.state)).toHaveLength(1);
  expect(await agent.use("browser_snapshot")).toContain("?mine");
  await window.press("Shift+F5");
  await listener.until((state) => state.debugSessions.length === 0 && state.browser === null);
});
