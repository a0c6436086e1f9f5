// The extension's own life in a real VS Code: how soon it is ready, reload, crash of the extension
// host, two windows on one folder, settings that change. The desktop's command "Restart Extension
// Host" is not in a VS Code that runs in a browser; a reload ends the host in the same order.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { untilAbsent, untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { openShop, type Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { addressOf } from "./support/socket";
import { agent, StandIn } from "./support/standin";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
const settingsFile = join(run.root, "user", "User", "settings.json");
const before = readFileSync(settingsFile, "utf8");
let screen: BrowserContext;
let shop: Shop;
let address: string;
let window: Workbench;
let bar: SideBar;

const claude = agent("c1", "Claude Code");

/** As the user edits them, in the editor. */
async function set(settings: Record<string, unknown>): Promise<void> {
  await window.command("Preferences: Open User Settings (JSON)");
  const editor = window.page.locator('.monaco-editor[data-uri$="settings.json"]');
  await editor.locator(".view-lines .view-line").first().click();
  await window.press("Control+a");
  await window.page.keyboard.insertText(JSON.stringify({ ...JSON.parse(before), ...settings }));
  await window.press("Control+s");
  await window.press("Escape"); // it opens above everything else
  await editor.waitFor({ state: "hidden" });
}

/** The stand-in for the coordinator, as soon as a window listens at the address. */
function joined(where = address): Promise<StandIn> {
  return StandIn.join(where);
}

beforeAll(async () => {
  screen = await openScreen(run);
  shop = await openShop(run, "grocer");
  address = await addressOf(run, shop.folder);
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  bar = await SideBar.open(window);
});

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  await window.screenshot(`failed ${task.name}`);
  await window.press("Escape"); // what stands above everything else would make the next fail too
});

afterAll(async () => {
  writeFileSync(settingsFile, before);
  await window?.close();
  await untilAbsent(address); // else the next file's coordinator may find the window
  await screen?.close();
  await shop?.close();
});

test("an answer that does not come in the stated time is a refusal, and the question goes", async () => {
  await set({ "browserCoordinator.access": "ask", "browserCoordinator.permissionTimeout": 5 });
  const coordinator = await joined();
  await coordinator.until((state) => state.access.mode === "ask");
  const asked = performance.now();
  const answer = coordinator.ask(claude, "click A");
  await bar.question.waitFor();
  expect(await answer).toEqual({ decision: "refuse", reason: "timeout" });
  expect(performance.now() - asked).toBeGreaterThan(4_900);
  await bar.question.waitFor({ state: "hidden" });
  coordinator.close();
});

test("what the user chose in the window outlives a reload, and the client finds the window again", async () => {
  const coordinator = await joined();
  await coordinator.announce(claude);
  await coordinator.report(claude, "browser_click", { target: 'button "Buy"', outcome: "clicked" });
  await bar.menu("Agents must ask first", "Agents can only view");
  await bar.act("Agents", "Claude Code", "Stop an Agent");
  await coordinator.until(({ access }) => access.mode === "view" && access.stopped.includes(claude.name));
  await window.reload();
  await coordinator.ended();
  const again = await joined();
  expect(again.state.access).toEqual({ mode: "view", stopped: [claude.name] });
  bar = await SideBar.open(window);
  await bar.row("Agents", /Claude Code.*stopped by you/).waitFor(); // it has not come back yet
  await bar.row("Activity", /Click button "Buy"\s*Claude Code/).waitFor();
  await bar.act("Agents", "Claude Code", "Resume a Stopped Agent");
  await again.until(({ access }) => access.stopped.length === 0);
  again.close();
});

test("a change of the setting goes before what was chosen in the window", async () => {
  const coordinator = await joined();
  await set({ "browserCoordinator.access": "full" });
  await coordinator.until(({ access }) => access.mode === "full");
  await window.toast("Agents can do everything now: the setting browserCoordinator.access has changed").waitFor();
  await bar.row("Agents", "Agents can do everything").waitFor();
  coordinator.close();
});

test("a crashed extension host leaves a dead socket, and the next one takes the address over", async () => {
  const coordinator = await joined();
  process.kill(await coordinator.pid(), "SIGKILL");
  await coordinator.ended();
  const again = await joined();
  await again.announce(claude);
  await bar.row("Agents", /Claude Code\s*2\.1\.0/).waitFor();
  again.close();
});

// Seven starts of a window, each 11 s of a processor.
test("two windows on one folder have two addresses, and each its own user", async () => {
  const second = await Workbench.open(run, screen, `folder=${shop.folder}`);
  const secondAddress = address.replace(/\.sock$/, "-2.sock");
  const [first, other] = [await joined(), await joined(secondAddress)];
  await first.announce(claude);
  await bar.menu("Agents can do everything", "Agents must ask first");
  await first.until(({ access }) => access.mode === "ask");
  expect(other.state.access.mode).toBe("full");
  const its = await SideBar.open(second);
  await its.row("Agents", "Agents can do everything").waitFor();
  await its.row("Agents", "No agent is connected").waitFor();

  // The one that chose last decides nothing for the other, which is reloaded.
  await its.menu("Agents can do everything", "Agents can only view");
  await its.menu("Agents can only view", "Agents can do everything");
  await other.until(({ access }) => access.mode === "full");
  await window.reload();
  await first.ended();
  const again = await joined();
  expect(again.state.access.mode).toBe("ask");
  expect(other.state.access.mode).toBe("full");
  again.close();

  // The stricter one stays what it is, also when it is reloaded after the other has gone.
  await its.menu("Agents can do everything", "Agents can only view");
  await other.announce(agent("c2", "Codex"));
  await its.act("Agents", "Codex", "Stop an Agent");
  await other.until(({ access }) => access.mode === "view" && access.stopped.length === 1);
  bar = await SideBar.open(window);
  await bar.menu("Agents must ask first", "Agents can do everything");
  await window.close();
  await untilAbsent(address);
  await second.reload();
  await other.ended();
  const alone = await joined(); // it has the plain address now
  expect(alone.state.access).toEqual({ mode: "view", stopped: ["Codex"] });

  // Nor does a new window beside it begin with more.
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  const beside = await joined(secondAddress);
  expect(beside.state.access).toEqual({ mode: "view", stopped: ["Codex"] });
  await window.toast("Agents can only view now: another window of this workspace is set to that").waitFor();
  alone.close();
  await second.close();
  await untilAbsent(address);
  await window.reload();
  await beside.ended();
  const last = await joined();
  expect(last.state.access).toEqual({ mode: "view", stopped: ["Codex"] });
  bar = await SideBar.open(window);
  await bar.act("Agents", "Codex", "Resume a Stopped Agent");
  await bar.menu("Agents can only view", "Agents can do everything");
  await last.until(({ access }) => access.mode === "full" && access.stopped.length === 0);
  last.close();
}, 300_000);

test("a window that agents cannot find shows it, and why", async () => {
  const other = await openShop(run, "butcher");
  chmodSync(run.sockets, 0o755); // where others may enter there is no socket
  const second = await Workbench.open(run, screen, `folder=${other.folder}`);
  try {
    await second.page.locator('.statusbar-item[aria-label*="Agents cannot find this window"]').waitFor();
    expect(await second.status.getAttribute("class")).toContain("warning-kind");
    await second.screenshot("problem");
  } finally {
    chmodSync(run.sockets, 0o700);
    await second.close();
    await other.close();
  }
});

test("the walkthrough opens by its command, and its buttons work", async () => {
  await window.command("Browser Coordinator: Get Started");
  const steps = window.page.locator(".getting-started-step");
  await steps.filter({ hasText: "Start a browser debug session" }).waitFor();
  expect(await steps.count()).toBe(5);
  await steps.filter({ hasText: "Decide what agents may do" }).click();
  const change = window.page.getByRole("button", { name: "Change What Agents May Do" });
  await window.retry(async (timeout) => {
    await change.click({ timeout });
    await window.rows("Agents can only view").waitFor({ timeout });
  });
  await window.screenshot("walkthrough");
});
