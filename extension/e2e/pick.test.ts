// In a real VS Code an agent asks the user to click an element, or the user writes to it about one. The click that
// an agent asks for is the coordinator's to see. What else an agent does leaves a page that the user sees as it was.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { coordinator } from "./support/coordinator";
import { Desktop } from "./support/desktop";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
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

describe("in a browser that the user sees", () => {
  let desktop: Desktop;
  let agent: Agent;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    desktop = await Desktop.start(run);
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
    await window.debug("Seen");
    const { browser: endpoint } = await listener.debugging((state) => state.browser !== null);
    agent = await Agent.start(run, scene.shop.folder);
    await agent.use("browser_snapshot");
    browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
    const pages = browser.contexts().flatMap((context) => context.pages());
    page = pages.find((each) => each.url().startsWith(scene.shop.url)) as Page;
  });

  afterAll(async () => {
    await browser?.close();
    await agent?.close();
    if (agent) await window.stop();
    await desktop?.close();
  });

  test("they point out elements in the page itself, and the agent gets them with its next answer", async () => {
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
  });

  test("the pictures of Activity leave the page and its window as they were, also when the agent ends", async () => {
    const { folder, url } = scene.shop;
    const measure = () =>
      page.evaluate<number[]>(`[innerWidth, innerHeight, outerWidth, outerHeight, devicePixelRatio,
        visualViewport.width, visualViewport.height, visualViewport.scale]`);
    const calls: [string, Record<string, string>][] = [
      ["browser_navigate", { url }],
      ["browser_evaluate", { function: "() => 1" }],
      ["browser_evaluate", { function: "() => 1" }],
    ];
    await agent.use("browser_navigate", { url });
    const size = await measure();
    const top = await page.evaluate<number>("screenY + outerHeight - innerHeight"); // above is the tab, which loads
    const pixels = await desktop.atRest(top);
    const expectUnchanged = async () => {
      expect(await measure()).toEqual(size);
      await expect.poll(() => desktop.pixels(top).equals(pixels)).toBe(true);
    };
    const rounds = async () => {
      for (let round = 0; round < 5; round++) {
        for (const [tool, args] of calls) await agent.use(tool, args);
        await expectUnchanged();
      }
    };
    await window.command("Browser Coordinator: Open Live View");
    const canvas = window.webview("Live View").locator("#canvas");
    const view = () => canvas.evaluate("[canvas.width, canvas.height].join()");
    await expect.poll(() => canvas.evaluate("canvas.width")).toBeGreaterThan(320);
    const viewed = await view();
    await rounds();
    expect(await view()).toBe(viewed);
    await window.tab("Live View").click({ button: "middle" });
    await window.tab("Live View").waitFor({ state: "detached" });
    await rounds();
    const bar = await SideBar.open(window);
    await bar.row("Activity", /Evaluate/).click();
    await bar.row("Activity", "Picture").waitFor();
    await agent.close();
    await expectUnchanged();
    const commands = { ...run, env: { ...run.env, BROWSER_COORDINATOR_WORKSPACE: folder } };
    for (let round = 0; round < 5; round++) {
      for (const [tool, args] of calls) await coordinator(commands, "call", tool, JSON.stringify(args));
    }
    await coordinator(commands, "close");
    await expectUnchanged();
  });
});
