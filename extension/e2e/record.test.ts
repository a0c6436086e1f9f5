// An agent records what the user does, in a real VS Code: asked for in every mode, shown, and ended by the user.
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("record");
let window: Workbench;
let listener: Listener;
let agent: Agent;
let browser: Browser | undefined;

beforeAll(async () => {
  ({ window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  await browser?.close();
  await agent?.close();
  listener?.close();
});

test("the user agrees, is shown that it is recorded, and ends it", async () => {
  const bar = await SideBar.open(window);
  await window.press("F5");
  const { browser: endpoint } = await listener.debugging((state) => state.browser !== null);
  agent = await Agent.start(run, scene.shop.folder, "--caps", "testing");
  await agent.use("browser_snapshot");
  browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
  const page = browser
    .contexts()
    .flatMap((context) => context.pages())
    .find((each) => each.url().startsWith(scene.shop.url));
  if (!page) throw new Error("the shop is not open");
  const recorded = agent.use("browser_record_user", { message: "Buy a loaf" });
  recorded.catch(() => {}); // awaited later
  await bar.question.getByText("Record what you do in this tab").waitFor(); // although agents can do everything
  await bar.answer("Allow Once");
  const notice = window.page.locator(".notifications-toasts .notification-list-item", {
    hasText: "e2e-agent 1.0.0 records what you do in the page: Buy a loaf",
  });
  await notice.waitFor();
  await window.screenshot("record");
  await page.locator("#name").pressSequentially("Ada");
  await page.locator("#buy").click();
  await notice.getByRole("button", { name: "End Recording" }).click();
  const answer = await recorded;
  expect(answer).toMatch(/\{"action":"type","target":"[^}]*","text":"Ada"\}/);
  expect(answer).toMatch(/\{"action":"click","target":"button /);
  expect(answer).toContain("test('what the user did'");
  await notice.waitFor({ state: "hidden" });
  await window.stop();
});
