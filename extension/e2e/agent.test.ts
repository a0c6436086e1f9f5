// An agent and a user at one window, whole: somebody else's MCP client, the real coordinator, a real
// VS Code and the browser that it debugs. What the agent does is what the user sees, and the reverse.
// The tests form one story: they run in their order.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

// Something to step into, and something that runs, so that a pause has where to stand.
const program = `const name = document.getElementById("name");

function thank(who) {
  const words = "Thank you, " + who;
  return words;
}

function buy() {
  const who = name.value;
  const thanks = thank(who);
  document.getElementById("answer").textContent = thanks;
}

document.getElementById("buy").addEventListener("click", buy);

let ticks = 0;
setInterval(() => {
  ticks += 1;
}, 50);
`;

const run = thisRun();
const scene = setScene("together", (shop) => {
  writeFileSync(join(shop.folder, "app.js"), program);
});
let shop: Shop;
let window: Workbench;
let listener: Listener;
let agent: Agent;
let session: string;

const buyAgain = () => agent.use("browser_click", { target: "#buy" });
const answer = () => agent.use("browser_evaluate", { function: "() => answer.textContent" });

function breakpoint(kind: string) {
  return window.page.locator(`.monaco-editor .cgmr.codicon-debug-${kind}`);
}

/** What stands behind lines of the open file, as the extension's marks do. */
function marks(): Promise<string[]> {
  return window.page.evaluate<string[]>(
    `[...document.querySelectorAll(".view-line span")]
      .map((each) => getComputedStyle(each, "::after").content.replaceAll("\u00a0", " "))
      .filter((text) => text.includes("set by"))`,
  );
}

function notice() {
  return window.page.locator(".notifications-toasts .notification-list-item", { hasText: "asks you to click" });
}

/** Does something as the user in the debugged browser, by a separate client. */
async function asUser(act: (page: Page) => Promise<void>): Promise<void> {
  const user: Browser = await chromium.connectOverCDP(listener.state.browser?.url ?? "", { timeout: 60_000 });
  try {
    const pages = user.contexts().flatMap((context) => context.pages());
    await act(pages.find((page) => page.url().startsWith(shop.url)) as Page);
  } finally {
    await user.close();
  }
}

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  agent = await Agent.start(run, shop.folder);
});

afterAll(async () => {
  await agent?.close();
  listener?.close();
});

test("window_list names the place that the user looks at", async () => {
  expect(await agent.use("window_list")).not.toContain("looks at");
  await window.openFile("app.js");
  await expect.poll(() => agent.use("window_list")).toContain("the user looks at app.js:1");
});

test("the agent starts the launch configuration by its name, and the user sees it run", async () => {
  await expect(agent.use("debug_start", { configuration: "Shoop" })).rejects.toThrow(/"Shoop".*"Shop"/);
  const started = await agent.use("debug_start", { configuration: "Shop" });
  session = /\(session ([^)]+)\)/.exec(started)?.[1] ?? "";
  expect(started).toBe(`Shop is being debugged (session ${session}).`);
  await window.running();
  expect(await agent.use("debug_state")).toMatch(/^- Shop \(session .*\): running$/m);
  // The session exists before its page has loaded, and a selector that matches nothing yet is not waited for.
  await agent.use("browser_wait_for", { text: "Your name" });
});

test("a breakpoint of the agent is in the user's gutter, and its click is held there", async () => {
  expect(await agent.use("debug_breakpoints", { action: "set", path: "app.js", line: 9 })).toBe("- app.js:9");
  await breakpoint("breakpoint").waitFor();
  await expect.poll(marks).toEqual(['"Breakpoint set by e2e-agent"']);
  await agent.use("browser_type", { target: "#name", text: "Ada" });
  expect(await buyAgain()).toContain("The page is paused in the debugger, in buy at app.js:9:");
  await window.paused();
  await window.screenshot("agent-paused");
});

test("who works where is seen in Run and Debug, and in the rows of pages and agents", async () => {
  await window.press("Control+Shift+d");
  const beside = window.page.locator(".sidebar .pane", { hasText: "Browser Agents" });
  await beside.locator(".pane-header .title", { hasText: "Browser Agents: e2e-agent" }).waitFor();
  await beside.locator(".pane-header").click();
  const row = beside.locator(".monaco-list-row", { hasText: /e2e-agent\s*Shop · 1\.0\.0/ });
  await row.hover();
  await row.locator('.actions a[aria-label^="Stop an Agent"]').waitFor();
  await window.screenshot("agent-beside-debugging");
  const bar = await SideBar.open(window);
  await bar.row("Browser", /Shop\s*e2e-agent · http/).waitFor();
  await bar.row("Agents", /e2e-agent\s*Shop · 1\.0\.0/).waitFor();
  await window.picture("agent-page", bar.part);
});

test("it sees the frames by the workspace's paths, the variables, and evaluates there", async () => {
  const state = await agent.use("debug_state");
  expect(state).toMatch(/« Shop \(session .*\): paused/);
  expect(state).toMatch(/at button#buy\.buy app\.js:9:[0-9]+ \[frame=[0-9]+\]/);
  expect(state).toMatch(/Local.*: this = <button id="buy"/);
  const frame = Number(/\[frame=([0-9]+)\]/.exec(state)?.[1]);
  expect(await agent.use("debug_evaluate", { expression: "name.value + '!'", frame })).toContain("'Ada!'");
  await expect(agent.use("debug_evaluate", { expression: "nobody.knows" })).rejects.toThrow("nobody is not defined");
});

test("it steps over, into and out, and the user's editor follows", async () => {
  expect(await agent.use("debug_step", { action: "over" })).toMatch(/Paused \(step\) at .* app\.js:10:/);
  expect(await agent.use("debug_evaluate", { expression: "who" })).toContain("'Ada'");
  expect(await agent.use("debug_step", { action: "into" })).toMatch(/at Window\.thank app\.js:4:/);
  await window.page.locator(".statusbar-item", { hasText: "Ln 4," }).waitFor();
  expect(await agent.use("debug_state")).toContain("who = 'Ada'");
  expect(await agent.use("debug_step", { action: "out" })).toMatch(/at button#buy\.buy app\.js:11:/);
  expect(await agent.use("debug_step", { action: "continue" })).toContain("It runs.");
  await window.running();
  expect(await answer()).toContain("Thank you, Ada");
});

test("it pauses what runs, and lets it go on", async () => {
  await agent.use("debug_breakpoints", { action: "remove", path: "app.js" });
  await expect.poll(marks).toEqual([]);
  expect(await agent.use("debug_step", { action: "pause" })).toMatch(/Paused \(pause\) at .* app\.js:18:/);
  await window.paused();
  expect(await agent.use("debug_step", { action: "continue" })).toContain("It runs.");
  await window.running();
  await expect(agent.use("debug_step", { action: "over" })).rejects.toThrow("no debug session is paused");
});

test("a breakpoint with a condition holds only when it is true", async () => {
  const set = { action: "set", path: "app.js", line: 4, condition: "who === 'Grace'" };
  expect(await agent.use("debug_breakpoints", set)).toBe("- app.js:4 [if who === 'Grace']");
  await breakpoint("breakpoint-conditional").waitFor();
  expect(await buyAgain()).not.toContain("paused");
  await agent.use("browser_type", { target: "#name", text: "Grace" });
  expect(await buyAgain()).toContain("The page is paused in the debugger, in thank at app.js:4:");
  await window.paused();
  await agent.use("debug_breakpoints", { action: "remove", path: "app.js", line: 4 });
  await agent.use("debug_step", { action: "continue" });
  await window.running();
});

test("a log point prints its message in the debug console, and holds nothing", async () => {
  const set = { action: "set", path: "app.js", line: 5, logMessage: "said {words} aloud" };
  expect(await agent.use("debug_breakpoints", set)).toBe("- app.js:5 [log said {words} aloud]");
  await breakpoint("breakpoint-log").waitFor();
  expect(await buyAgain()).not.toContain("paused");
  await window.consoleShows("said Thank you, Grace aloud");
  expect(await agent.use("debug_breakpoints", { action: "remove", path: "app.js" })).toContain("no breakpoints");
  await breakpoint("breakpoint-log").waitFor({ state: "hidden" });
});

test("it shows the user a place in a file", async () => {
  await agent.use("reveal_source", { path: "index.html", line: 11 });
  await window.page.locator(".tab.active", { hasText: "index.html" }).waitFor();
  await window.page.locator(".statusbar-item", { hasText: "Ln 11, Col 1" }).waitFor();
  await expect.poll(() => agent.use("window_list")).toContain("the user looks at index.html:11");
  await expect(agent.use("reveal_source", { path: "nowhere.html" })).rejects.toThrow("nowhere.html");
});

test("a file that is open in another group is shown there, not a second time", async () => {
  await window.openFile("app.js");
  await window.openFile("index.html");
  await window.command("View: Move Editor into Next Group");
  await window.command("View: Focus First Editor Group");
  await window.openFile("frames.html");
  await agent.use("reveal_source", { path: "index.html", line: 3 });
  const group = (number: number) => window.page.locator(".editor-group-container").nth(number);
  await group(1).locator(".tab.active", { hasText: "index.html" }).waitFor();
  expect(await window.tab("index.html").count()).toBe(1);
  await group(0).locator(".tab.active", { hasText: "frames.html" }).waitFor();
  await window.command("View: Join All Editor Groups");
  await window.openFile("app.js");
});

test("the user points at an element in the browser, and the agent learns which it was", async () => {
  const picked = agent.use("pick_element", { message: "Which button is too small?" });
  picked.catch(() => {}); // awaited below
  await notice().getByText("Which button is too small?").waitFor();
  expect(await notice().textContent()).toContain("e2e-agent 1.0.0 asks you to click");
  await window.screenshot("agent-pick");
  await asUser(async (page) => {
    const box = await page.locator("#buy").boundingBox();
    if (!box) throw new Error("the button is not in sight");
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  });
  const result = await picked;
  expect(result).toMatch(/^- button "Buy".* \[ref=[^\]]+\]/);
  expect(result).toContain("Selector: #buy");
  expect(result).toContain("[image]");
  await notice().waitFor({ state: "hidden" });
  const ref = /\[ref=([^\]]+)\]/.exec(result)?.[1];
  await agent.use("browser_type", { target: "#name", text: "Hedy" });
  await agent.use("browser_click", { target: ref });
  expect(await answer()).toContain("Thank you, Hedy");
});

test("a user who does not want to point cancels in the window", async () => {
  const picked = agent.use("pick_element");
  picked.catch(() => {}); // awaited below
  await notice().getByRole("button", { name: "Cancel" }).click();
  await expect(picked).rejects.toThrow("the user declined to point at an element");
  await notice().waitFor({ state: "hidden" });
  // The page listens to clicks again.
  await agent.use("browser_type", { target: "#name", text: "Ida" });
  await asUser((page) => page.locator("#buy").click());
  expect(await answer()).toContain("Thank you, Ida");
  await window.tab("Live View").click({ button: "middle" }); // it was opened to point in
  await window.tab("Live View").waitFor({ state: "detached" });
});

test("a review of the agent is read beside the code", async () => {
  await agent.use("present_review", { title: "Cart", markdown: "# What changed\n\nSee [the thanks](app.js#L4)." });
  await window.webview("Cart").getByRole("heading", { name: "What changed" }).waitFor();
  expect(await window.webview("Cart").locator("#author").textContent()).toBe("From e2e-agent 1.0.0");
  await window.webview("Cart").getByRole("link", { name: "the thanks" }).click();
  await window.page.locator(".statusbar-item", { hasText: "Ln 4, Col 1" }).waitFor();
});

test("the pictures of what it does leave the page as it was", async () => {
  const measure = { function: "() => [innerWidth, innerHeight, devicePixelRatio, visualViewport.width].join()" };
  await agent.use("browser_navigate", { url: shop.url });
  const before = await agent.use("browser_evaluate", measure);
  for (let round = 0; round < 5; round++) {
    await agent.use("browser_navigate", { url: `${shop.url}?${round}` });
    await agent.use("browser_evaluate", { function: "() => 1" });
    await agent.use("browser_evaluate", { function: "() => 1" });
    await agent.use("browser_take_screenshot", { fullPage: true });
  }
  expect(await agent.use("browser_evaluate", measure)).toBe(before);
  await asUser(async (page) => {
    const drawn = await page.screenshot();
    const size = [drawn.readUInt32BE(16), drawn.readUInt32BE(20)]; // of a PNG
    expect(size.join()).toBe(await page.evaluate("[innerWidth, innerHeight].join()"));
  });
});

test("it ends the session that it started", async () => {
  expect(await agent.use("debug_stop", { session })).toBe("The debug session has ended.");
  await window.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
  expect(await agent.use("debug_state")).toContain("Nothing is being debugged");
});

test("the user's own session is not the agent's to end", async () => {
  await window.press("F5");
  await listener.debugging((state) => state.browser !== null);
  const own = /session ([^,]+),/.exec(await agent.use("debug_state"))?.[1];
  await expect(agent.use("debug_stop", { session: own })).rejects.toThrow("Shop was not started");
  await window.running();
  await window.stop();
  await listener.until((state) => state.debugSessions.length === 0);
});

test("it goes on with the window that was reloaded, and with the next browser", async () => {
  listener.close();
  await window.reload();
  await expect.poll(() => agent.use("window_list")).toContain(shop.folder);
  await window.press("F5");
  listener = await Listener.dial(scene.address);
  await listener.debugging((state) => state.browser !== null);
  expect(await agent.use("browser_snapshot")).toContain('heading "Shop"');
  await window.stop();
});
