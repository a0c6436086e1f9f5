// Whether the debug browser has a port, by default: none while another user is on the machine. That user tries.
// The tests form one story: they run in their order. Where no other user is possible, only the setting is tested.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { otherUsers } from "../src/core/browser/systemusers";
import { noSecondUser, SecondUser } from "../test/support/seconduser";
import { Agent } from "./support/agent";
import { attack, filesWith, knock, withArgument } from "./support/attacker";
import { endpoint, windows } from "./support/coordinator";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const setting = "browserCoordinator.addDebuggingPort";
const scene = setScene("harbour", traced, { [setting]: "auto" });
const text = "for my eyes only";
let shop: Shop;
let window: Workbench;
let bar: SideBar;
let listener: Listener;
let bob: SecondUser | undefined;
let diary: string;

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  bar = await SideBar.open(window);
  diary = join(shop.folder, "diary.txt");
  writeFileSync(diary, text, { mode: 0o600 });
  if (!noSecondUser) bob = SecondUser.make();
});

afterAll(async () => {
  listener?.close();
  await bob?.remove();
});

/** Has the debugger write all its messages to a file. */
function traced({ folder }: Shop): void {
  const path = join(folder, ".vscode", "launch.json");
  const launch = JSON.parse(readFileSync(path, "utf8"));
  launch.configurations[0].trace = true;
  writeFileSync(path, JSON.stringify(launch));
}

/** Changes the setting in the workspace, and waits until the editor has read it. */
async function change(value: string): Promise<void> {
  const settings = { [setting]: value, "window.title": `the port: ${value}` };
  writeFileSync(join(shop.folder, ".vscode", "settings.json"), JSON.stringify(settings));
  await window.page.waitForFunction(
    (title) => (globalThis as unknown as { document: { title: string } }).document.title === title,
    settings["window.title"],
  );
}

async function stopped(): Promise<void> {
  await window.stop();
  await listener.until(({ debugSessions }) => debugSessions.length === 0);
}

async function tooltip(row: RegExp, text: RegExp): Promise<void> {
  const hover = window.page.locator(".monaco-hover", { hasText: text }).first();
  for (let tries = 5; ; tries--) {
    await bar.row("Browser", row).hover();
    try {
      await hover.waitFor({ timeout: 12_000 });
      break;
    } catch (error) {
      if (tries === 1) throw error; // a row that is redrawn under the mouse shows none
    } finally {
      await window.page.mouse.move(640, 400);
    }
  }
}

test("while another user has a process there is no port, the view shows why, and they get nothing", async (context) => {
  if (!bob) return context.skip(noSecondUser);
  await bob.run("sleep", ["600"]);
  await window.press("F5");
  const state = await listener.debugging(({ pages }) => pages.length === 1);
  expect(state.browser).toBeNull();
  await bar.row("Browser", new RegExp(`No debugging port\\s*${bob.name} has processes on this machine`)).waitFor();
  await bar.row("Browser", "Shop").waitFor();
  await tooltip(/No debugging port/, /Every local user[\s\S]*shared debug session[\s\S]*addDebuggingPort/);
  await window.screenshot("port-none");
  expect(await attack(bob, shop.url, diary)).toEqual([]);
});

test("agents and CDP tools work there all the same", async (context) => {
  if (!bob) return context.skip(noSecondUser);
  expect(await windows(run)).toMatchObject([{ workspace: shop.folder, browser: null, pages: 1 }]);
  const agent = await Agent.start(run, shop.folder);
  try {
    await agent.use("browser_navigate", { url: `${shop.url}?agent` });
    await agent.use("browser_type", { target: "#name", text: "Ada" });
    await agent.use("browser_click", { element: "Buy", target: "#buy" });
    expect(await agent.use("browser_snapshot")).toContain("Thank you, Ada");
    expect(await agent.use("browser_evaluate", { function: "() => location.search" })).toContain("?agent");
    const browser = await chromium.connectOverCDP(await endpoint(run, shop.folder), { timeout: 60_000 });
    const [page] = browser.contexts().flatMap((each) => each.pages()) as [Page];
    expect(await page.locator("#answer").textContent()).toBe("Thank you, Ada");
    expect(await attack(bob, shop.url, diary)).toEqual([]); // also at what the coordinator has opened
    await browser.close();
  } finally {
    await agent.close();
  }
});

test("a shared debug session admits only who knows its secret, which nobody else can read", async (context) => {
  if (!bob) return context.skip(noSecondUser);
  const shared = listener.state.pages[0]?.url ?? "";
  const { origin, pathname } = new URL(shared);
  expect(pathname).toMatch(/^\/[0-9a-f]{40}$/);
  const guesses = ["", "json/version", "devtools/browser", `${pathname.slice(1, -1)}`, `${pathname}x`, `?${pathname}`];
  expect(await knock(bob, [...guesses.map((guess) => `${origin}/${guess}`), shared])).toEqual([shared]);
  const secret = pathname.slice(1);
  expect(withArgument(secret)).toEqual([]);
  const trace = expect.stringMatching(/ms-vscode\.js-debug\/vscode-debugadapter-\w+\.json$/);
  expect(filesWith(secret, run.root)).toEqual([{ file: trace, mode: 0o600 }]); // 0644 by js-debug alone
  await stopped();
});

test("without other users there is a port, and the view shows what it exposes", async (context) => {
  await bob?.leave();
  const others = await otherUsers();
  if (others.length > 0) context.skip(`others are on this machine: ${others}`);
  await window.press("F5");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser?.via).toBe("injected");
  await bar.row("Browser", /Chrom(e|ium) [0-9]+\s*Shop · debugging port added/).waitFor();
  await tooltip(/debugging port added/, /: no other user has a process[\s\S]*Every local user/);
  // What the decision is for: whoever comes now, while the debug session runs, has all of it.
  if (bob) expect(await attack(bob, shop.url, diary)).toEqual([text]);
  await stopped();
});

test("another choice holds from the next debug session on", async () => {
  await change("always"); // a workspace may not be less strict than its user, who has chosen the same here
  await window.press("F5");
  const { browser } = await listener.debugging((state) => state.browser !== null);
  await tooltip(/debugging port added/, /addDebuggingPort is "always"/);
  await change("never");
  expect(listener.state.browser?.url).toBe(browser?.url);
  await stopped();
  await window.press("F5");
  const state = await listener.debugging(({ pages }) => pages.length === 1);
  expect(state.browser).toBeNull();
  await bar.row("Browser", /No debugging port\s*browserCoordinator\.addDebuggingPort is "never"/).waitFor();
  await stopped();
});
