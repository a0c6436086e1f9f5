// The commands that no view or menu has been clicked for elsewhere, from the palette. What is copied is read
// as a person does: pasted into an empty editor.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type BrowserContext, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { agent, StandIn } from "./support/standin";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("chandler");
const claude = agent("c1", "Claude Code");
const cursor = agent("c2", "Cursor");
let screen: BrowserContext;
let shop: Shop;
let address: string;
let window: Workbench;
let bar: SideBar;
let coordinator: StandIn;

beforeAll(async () => {
  ({ screen, address, shop, window } = scene);
  await screen.grantPermissions(["clipboard-read", "clipboard-write"]);
  coordinator = await StandIn.dial(address);
  await coordinator.announce(claude, cursor);
  bar = await SideBar.open(window);
});

afterAll(async () => {
  coordinator?.close();
});

function notification(text: string) {
  return window.page.locator(".notification-toast", { hasText: text }).first();
}

test("Show Log shows the extension's, which mentions the endpoint and not its address", async () => {
  await window.press("F5");
  const { browser } = await coordinator.debugging((state) => state.browser !== null);
  await window.command("Browser Coordinator: Show Log");
  const log = window.page.locator(".part.panel .view-lines");
  // An editor shows blanks as other characters.
  const found = /browser\sendpoint\sof\s"Shop"\sfound/;
  await log.getByText(found).first().waitFor();
  const { port, pathname } = new URL(browser?.url ?? "");
  for (const secret of [`:${port}`, pathname.split("/").at(-1) as string]) {
    expect(await log.innerText()).not.toContain(secret);
  }
  await window.screenshot("log");
  await window.stop();
});

test("Copy CDP Endpoint copies an address, reports that it is not served, and serves it on a click", async () => {
  await window.press("F5");
  await coordinator.debugging((state) => state.browser !== null);
  await window.command("Browser Coordinator: Copy CDP Endpoint");
  const toast = window.toast("Copied the CDP endpoint, http://127.0.0.1:");
  await toast.getByText("Nothing is listening there yet").waitFor();
  await bar.row("Agents", /Endpoint\s*http:.* · starts with the first agent/).waitFor();
  await toast.getByRole("button", { name: "Start Serving" }).click();
  const terminal = window.page.locator(".terminal-wrapper.active .xterm");
  await terminal.waitFor();
  const copied = await window.pasted();
  const args = ["endpoint", "--json", "--workspace", shop.folder];
  const asked = async () => JSON.parse((await promisify(execFile)(run.coordinator, args, { env: run.env })).stdout);
  // Until the terminal's program listens; the terminal draws what it prints and has no text.
  await expect.poll(asked).toMatchObject({ url: copied, served: true });
  await bar.row("Agents", /Endpoint\s*http:[^ ]+\s*$/).waitFor();
  const joined = await chromium.connectOverCDP(copied, { timeout: 60_000 });
  const pages = joined.contexts().flatMap((context) => context.pages());
  expect(pages.map((page) => page.url())).toContain(`${shop.url}?chandler`);
  await joined.close();

  await window.command("Browser Coordinator: Copy CDP Endpoint");
  await window.toast(`Copied the CDP endpoint, ${copied}.`).waitFor();
  await window.command("Terminal: Kill the Active Terminal Instance");
  await terminal.waitFor({ state: "detached" });
  await bar.row("Agents", /Endpoint\s*http:.* · starts with the first agent/).waitFor();
  await window.stop();
});

test("Copy CDP Endpoint copies the address with its token where nobody gets in without", async () => {
  const args = ["serve", "--workspace", shop.folder, "--require-token"];
  const strict = spawn(run.coordinator, args, { env: run.env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [address] = await once(createInterface({ input: strict.stdout }), "line");
    await window.command("Browser Coordinator: Copy CDP Endpoint");
    const { origin } = new URL(address);
    await window.toast(`Copied the CDP endpoint, ${origin}.`).waitFor(); // the token is nobody's to read there
    expect(await window.pasted()).toBe(address);
  } finally {
    strict.kill("SIGINT");
    await once(strict, "exit");
  }
});

test("Copy Window Address copies the socket's", async () => {
  await window.command("Browser Coordinator: Copy Window Address");
  await notification(`Copied ${address}`).waitFor();
  expect(await window.pasted()).toBe(address);
});

test("Clear Activity empties the list", async () => {
  await coordinator.report(claude, "browser_click", { target: 'button "Buy"', outcome: "clicked" });
  await bar.row("Activity", 'click button "Buy"').waitFor();
  await window.command("Browser Coordinator: Clear Activity");
  await bar.row("Activity", 'click button "Buy"').waitFor({ state: "detached" });
  await bar.pane("Activity").getByText("What agents do").waitFor();
});

test("Stop an Agent asks which one, and Resume a Stopped Agent reverts it", async () => {
  await window.chooseFrom("Stop an Agent", "Cursor 2.1.0");
  await coordinator.until(({ access }) => access.stopped.join() === cursor.name);
  const onlyStopped = async (timeout: number) => {
    await window.tryCommand("Browser Coordinator: Resume a Stopped Agent", timeout);
    await window.rows("Cursor").waitFor({ timeout });
    expect(await window.rows("").count()).toBe(1);
  };
  await window.choose(onlyStopped, "Cursor 2.1.0");
  await coordinator.until(({ access }) => access.stopped.length === 0);
});

test("with no stopped agent, that is shown", async () => {
  await window.command("Browser Coordinator: Resume a Stopped Agent");
  await notification("No agent is stopped.").waitFor();
});
