// In a real VS Code an agent asks the user to click an element, or the user writes to it about one. The click that
// an agent asks for is the coordinator's to see.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { Desktop } from "./support/desktop";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("pick");
const arg = {
  client: { id: "a1", name: "E2E agent", version: "1" },
  message: "Which button is too small?",
  seconds: 60,
};
let window: Workbench;
let listener: Listener;

function notice() {
  return window.page.locator(".notifications-toasts .notification-list-item", {
    hasText: "E2E agent 1 asks you to click",
  });
}

beforeAll(async () => {
  ({ window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  listener?.close();
});

test("a notification asks, and its Cancel is the answer", async () => {
  const outcome = listener.call("pick.start", arg);
  await notice().waitFor();
  expect(await notice().textContent()).toContain("Which button is too small?");
  await window.screenshot("pick");
  await notice().getByRole("button", { name: "Cancel" }).click();
  expect(await outcome).toEqual({ outcome: "cancelled" });
  await notice().waitFor({ state: "hidden" });
});

test("the notification goes when the agent has what it wants", async () => {
  listener.client.send({ id: "pick", type: "call", version: 2, payload: { command: "pick.start", arg } });
  await notice().waitFor();
  await listener.client.ask("cancel", { id: "pick" });
  await notice().waitFor({ state: "hidden" });
  expect(await listener.client.until(({ id }) => id === "pick")).toMatchObject({ error: { code: "cancelled" } });
});

test("the notification goes when the time is up", async () => {
  expect(await listener.call("pick.start", { ...arg, seconds: 2 })).toEqual({ outcome: "timeout" });
  await notice().waitFor({ state: "hidden" });
});

test("in a browser that nobody sees the user points in the live view, by mouse, keyboard or not at all", async () => {
  await window.press("F5");
  const { browser: endpoint } = await listener.debugging((state) => state.browser !== null);
  const agent = await Agent.start(run, scene.shop.folder);
  let browser: Browser | undefined;
  let other: Page | undefined;
  try {
    await agent.use("browser_snapshot");
    browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
    const context = browser.contexts()[0];
    const page = context?.pages().find((each) => each.url().startsWith(scene.shop.url));
    const box = await page?.locator("#buy").boundingBox();
    const [width, height] = (await page?.evaluate<[number, number]>("[innerWidth, innerHeight]")) ?? [1, 1];
    if (!page || !box) throw new Error("the button is not in the page");
    other = await context?.newPage(); // so that the agent's page is in the background
    await other?.goto(scene.shop.url);
    const panel = window.webview("Live View");
    const canvas = panel.locator("#canvas");
    const status = panel.getByRole("status");
    /** What the agent gets; it is asked for when the panel shows the question. */
    const ask = async (message: string): Promise<{ picked: Promise<string> }> => {
      const picked = agent.use("pick_element", { message });
      picked.catch(() => {}); // awaited later
      await status.getByText(`e2e-agent 1.0.0 asks you to click an element in the page: ${message}`).waitFor();
      return { picked };
    };
    const at = async () => {
      const shown = await canvas.boundingBox();
      const { width: w = 0, height: h = 0 } = shown ?? {};
      return { x: ((box.x + box.width / 2) / width) * w, y: ((box.y + box.height / 2) / height) * h };
    };
    const first = await ask("Which button?");
    await expect.poll(() => canvas.evaluate("document.getElementById('canvas').width")).toBeGreaterThan(0);
    await canvas.hover({ position: await at() });
    await window.screenshot("pick-headless");
    await canvas.click({ position: await at() });
    expect(await first.picked).toContain("Selector: #buy");
    await status.getByText("Which button?").waitFor({ state: "hidden" });
    await notice().waitFor({ state: "hidden" });
    const declined = await ask("Which of them?");
    await canvas.press("Escape");
    await expect(declined.picked).rejects.toThrow("the user declined to point at an element");
    const keyed = await ask("And now?");
    await canvas.press("ArrowDown");
    await canvas.press("Enter");
    expect(await keyed.picked).toContain("Selector: ");
    expect(await page.evaluate("answer.textContent")).toBe(""); // no click was the page's
  } finally {
    await other?.close(); // else its debug session would go on
    await browser?.close();
    await agent.close();
    await window.stop();
  }
});

test("the user points out elements in the page itself, and the agent gets them with its next answer", async () => {
  const desktop = await Desktop.start(run);
  const path = join(scene.shop.folder, ".vscode", "launch.json");
  const { version, configurations } = JSON.parse(readFileSync(path, "utf8"));
  const [{ runtimeArgs, ...shop }] = configurations;
  const seen = {
    ...shop,
    name: "Seen",
    env: { DISPLAY: desktop.env.DISPLAY },
    runtimeArgs: runtimeArgs.filter((each: string) => !each.startsWith("--headless")),
  };
  writeFileSync(path, JSON.stringify({ version, configurations: [...configurations, seen] }));
  let agent: Agent | undefined;
  let browser: Browser | undefined;
  try {
    await window.debug("Seen");
    const { browser: endpoint } = await listener.debugging((state) => state.browser !== null);
    agent = await Agent.start(run, scene.shop.folder);
    await agent.use("browser_snapshot");
    browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
    const page = browser
      .contexts()[0]
      ?.pages()
      .find((each) => each.url().startsWith(scene.shop.url));
    if (!page) throw new Error("the shop is not in the browser");
    await window.command("Browser Coordinator: Point Out Elements to an Agent");
    const input = window.page.locator(".quick-input-widget input").first();
    const point = async (selector: string, name: string) => {
      const title = window.page.locator(".quick-input-title", { hasText: name });
      await window.toast("Click the element that you mean").waitFor();
      await expect
        .poll(async () => {
          await page.locator(selector).hover({ force: true });
          await page.mouse.down(); // until the browser is in that mode, it is the page's
          await page.mouse.up();
          return title.isVisible();
        })
        .toBe(true);
    };
    await point("h1", "h1");
    await window.screenshot("point-out");
    await input.fill("Larger.");
    await window.press("Enter");
    await window.rows("Send to e2e-agent 1.0.0").waitFor();
    await window.screenshot("point-out-note");
    await window.rows("Add Another").click();
    await point("#buy", "#buy");
    await input.fill("Rounder.");
    await window.press("Enter");
    await window.rows("Send to e2e-agent 1.0.0").click();
    await window.page.locator(".statusbar-item", { hasText: "the agent gets it with its next answer" }).waitFor();
    const { text, pictures } = await agent.see("browser_tabs", { action: "list" });
    expect(text).toContain("The user points you to:");
    expect(text).toMatch(/1\. “heading '.*' h1”/);
    expect(text).toContain("The user's own words about 1:\n  Larger.\n");
    expect(text).toMatch(/2\. “button '.*' button#buy”/);
    expect(text).toContain("The user's own words about 2:\n  Rounder.\n");
    expect(pictures).toHaveLength(2);
  } finally {
    await browser?.close();
    await agent?.close();
    await window.stop();
    await desktop.close();
  }
});
