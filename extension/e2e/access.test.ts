// What the user allows, kept by the real coordinator: Playwright joins through the stable endpoint,
// and is asked about, refused, and stopped.
// The tests form one story: they run in their order.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { endpoint } from "./support/coordinator";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("florist");
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let bar: SideBar;
let listener: Listener;
let host: Agent;
let stable: string;
let joined: Browser;
let page: Page;

beforeAll(async () => {
  ({ screen, shop, window } = scene);
  listener = await Listener.dial(scene.address);
  host = await Agent.start(run, shop.folder); // it serves the endpoint
  stable = await endpoint(run, shop.folder);
  bar = await SideBar.open(window);
  await window.press("F5");
  await listener.debugging((state) => state.browser !== null);
});

afterAll(async () => {
  await joined?.close();
  await host?.close();
  listener?.close();
});

async function join(): Promise<void> {
  joined = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  page = joined
    .contexts()
    .flatMap((context) => context.pages())
    .find((each) => each.url() === `${shop.url}?florist`) as Page;
}

/** A stricter mode ends the connection, with what it has set up. */
async function restrict(from: string, to: string): Promise<void> {
  const ended = new Promise((resolve) => joined.once("disconnected", resolve));
  await bar.menu(from, to);
  await ended;
}

test("Playwright is named with its version, and uses the page without a question", async () => {
  await join();
  await bar.row("Agents", /Playwright/).waitFor();
  await page.locator("#name").fill("Ada");
  await page.locator("#buy").click();
  expect(await page.locator("#answer").textContent()).toBe("Thank you, Ada");
  await bar.row("Activity", /./).waitFor();
  await window.screenshot("access-full");
});

test("DevTools of a browser without a screen are given by their address, which works in any Chrome", async () => {
  await screen.grantPermissions(["clipboard-read", "clipboard-write"]);
  await bar.act("Browser", "florist", "Open a Page in DevTools");
  await window.page.locator(".notification-toast", { hasText: "Paste the address" }).waitFor();
  const address = await window.page.evaluate<string>("navigator.clipboard.readText()");
  expect(address).toMatch(/^devtools:.*ws=127\.0\.0\.1:[0-9]+\/devtools\/page\//);
  expect(address).toContain(new URL(stable).host);
  const other = await chromium.launch({ executablePath: run.browser, env: run.env, args: ["--no-sandbox"] });
  try {
    const cdp = await other.newBrowserCDPSession();
    await cdp.send("Target.createTarget", { url: address });
    await bar.row("Agents", /DevTools|Chrome/).waitFor(); // it has joined by the endpoint
    await window.screenshot("access-devtools");
  } finally {
    await other.close();
  }
});

test("asked to ask, Playwright joins again once the user allows it, and is not asked about again", async () => {
  await page.addInitScript({ content: "window.leftBehind = true" });
  await page.reload();
  expect(await page.evaluate("window.leftBehind")).toBe(true);
  await restrict("Agents can do everything", "Agents must ask first");
  await listener.until((state) => state.access.mode === "ask");
  const joining = join();
  await bar.question.getByText(/Playwright [0-9.]+ wants to control this browser\./).waitFor();
  await bar.row("Agents", /Playwright.*wants to connect/).waitFor();
  await window.screenshot("access-ask");
  await bar.answer("Allow");
  await joining;
  await bar.row("Agents", /Playwright.*may act/).waitFor();
  await page.locator("#name").fill("Grace");
  await page.locator("#buy").click();
  expect(await page.locator("#answer").textContent()).toBe("Thank you, Grace");
  await page.reload();
  expect(await page.evaluate("window.leftBehind")).toBeUndefined();
  await joined.close();
  await join(); // it comes back at once
  expect(await page.locator("#name").count()).toBe(1);
});

/**
 * Runs a script with a function open, which connects as a program of that name: in a process of
 * another session, since this one is a program that the user has allowed.
 */
function elsewhere(name: string, script: string) {
  const whole = `
    const { chromium } = require("playwright-core");
    const open = () => chromium.connectOverCDP(${JSON.stringify(stable)},
      { timeout: 20_000, headers: { "User-Agent": "${name}/1.0" } });
    const failure = (promise) => promise.then(() => "it succeeded", (error) => error.message);
    (async () => { ${script} })();`;
  const child = spawn(process.execPath, ["-e", whole], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  return { leave: () => child.stdin.end(), output: text(child.stdout) };
}

test("a CDP client that the user does not allow looks, or does not join", async () => {
  const looks = elsewhere(
    "Onlooker",
    `const browser = await open();
     const [seen] = browser.contexts().flatMap((context) => context.pages());
     console.log(await failure(seen.goto(${JSON.stringify(`${shop.url}?elsewhere`)})));
     process.stdin.resume().on("end", () => browser.close());`,
  );
  await bar.question.getByText("Onlooker 1.0 wants to control this browser.").waitFor();
  await bar.answer("View Only");
  await bar.row("Agents", /Onlooker.*may only view/).waitFor();
  looks.leave();
  expect(await looks.output).toMatch(/its user has not let this client/);
  // Nobody is asked again.
  const refused = elsewhere("Stranger", "console.log(JSON.stringify([await failure(open()), await failure(open())]))");
  await bar.question.getByText("Stranger 1.0 wants to control this browser.").waitFor();
  await bar.answer("Refuse");
  for (const error of JSON.parse(await refused.output)) {
    expect(error).toContain("does not let this client connect");
  }
});

test("the question names what the page has, and the agent's words as the agent's", async () => {
  const acted = host.use("browser_click", { target: "#buy", element: "Close the cookie banner" });
  acted.catch(() => {}); // awaited below
  await bar.question.getByText('Click button "Buy" (the agent calls it “Close the cookie banner”)').waitFor();
  await window.screenshot("access-ask-claim");
  await bar.answer("Refuse");
  await expect(acted).rejects.toThrow(/did not allow/);
  await bar.row("Activity", /button "Buy"/).waitFor();
  expect(await bar.row("Activity", /cookie/).count()).toBe(0);
});

test("an MCP host is asked about too, by the name that it gave itself", async () => {
  const acted = host.use("browser_type", { target: "#name", text: "Hedy" });
  acted.catch(() => {}); // awaited below
  await bar.question.getByText("e2e-agent 1.0.0 wants to act").waitFor();
  await window.screenshot("access-ask-mcp");
  await bar.answer("Refuse");
  await expect(acted).rejects.toThrow(/refused/);
  const again = host.use("browser_type", { target: "#name", text: "Hedy" });
  await bar.question.getByText("e2e-agent").waitFor();
  await bar.answer("Allow Clicks and Typing");
  await again;
  await host.use("browser_press_key", { key: "End" }); // it is of that kind
  const other = host.use("browser_evaluate", { function: "() => 1 + 1" });
  await bar.question.getByText("1 + 1").waitFor();
  await window.screenshot("access-ask-other");
  await bar.answer("Allow Once");
  await other;
  await bar.row("Agents", /e2e-agent.*Clicks and Typing on .* allowed/).waitFor();
  await bar.row("Activity", /Type textbox/).waitFor();
  expect(await page.locator("#name").inputValue()).toBe("Hedy");
});

test("a client that may only look sees the page, and cannot change it", async () => {
  await restrict("Agents must ask first", "Agents can only view");
  await join();
  // The window notifies the coordinator as it notifies us, and neither waits for the other: so ask the one that
  // applies the rule.
  await expect.poll(() => host.use("window_list")).toContain("[access: view]");
  await expect(page.goto(`${shop.url}?elsewhere`)).rejects.toThrow(/view|look/i);
  const cdp = await page.context().newCDPSession(page);
  expect((await cdp.send("Page.captureScreenshot")).data.length).toBeGreaterThan(1_000);
  expect(page.url()).toBe(`${shop.url}?florist`);
});

test("a client that the user stops is cut off; the browser stays", async () => {
  await bar.menu("Agents can only view", "Agents can do everything");
  const ended = new Promise((resolve) => joined.once("disconnected", resolve));
  await bar.act("Agents", "Playwright", "Stop an Agent");
  await ended;
  expect(listener.state.browser).not.toBeNull();
  await bar.row("Agents", /Playwright.*stopped by you/).waitFor();
  await expect(chromium.connectOverCDP(stable, { timeout: 3_000 })).rejects.toThrow("stopped by the user");
  await window.screenshot("access-stopped");
  await bar.act("Agents", "Playwright", "Resume a Stopped Agent");
  await listener.until((state) => state.access.stopped.length === 0);
  joined = await chromium.connectOverCDP(stable, { timeout: 60_000 });
  // This editor is a remote one, and reports each port that it forwards.
  expect(await window.page.getByText(`port ${new URL(stable).port} is available`).count()).toBe(0);
});

test("an agent that the user has stopped is still stopped when it comes back", async () => {
  await window.chooseFrom("Stop an Agent", "e2e-agent 1.0.0"); // a row would move: Playwright has just joined
  await bar.row("Agents", /e2e-agent.*stopped by you/).waitFor();
  await host.close();
  host = await Agent.start(run, shop.folder); // as a new process
  await expect(host.use("browser_click", { target: "#buy" })).rejects.toThrow("stopped by the user");
  await expect(host.use("browser_snapshot")).rejects.toThrow("stopped by the user");
  await bar.row("Agents", /e2e-agent.*stopped by you/).waitFor();
  expect(await bar.pane("Agents").locator(".monaco-list-row", { hasText: "e2e-agent" }).count()).toBe(1);
  await window.screenshot("access-stopped-again");
  await window.chooseFrom("Resume a Stopped Agent", "e2e-agent 1.0.0");
  await listener.until((state) => state.access.stopped.length === 0);
  await expect.poll(() => host.use("browser_snapshot").catch(String)).toContain("textbox");
});
