// A folder that the user does not trust yet. The run's VS Code trusts all, so this is another.
import { once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startServer } from "./support/codeserver";
import { untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
let server: Awaited<ReturnType<typeof startServer>>;
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let listener: Listener;

beforeAll(async () => {
  const user = join(run.root, "wary");
  for (const kind of ["User", "Machine"]) {
    cpSync(join(run.root, "user", kind, "settings.json"), join(user, kind, "settings.json"));
  }
  server = await startServer(run, user);
  screen = await openScreen(run);
  shop = await openShop(run, "untrusted");
  window = await Workbench.open({ ...run, url: server.url }, screen, `folder=${shop.folder}`);
});

afterAll(async () => {
  listener?.close();
  await screen?.close();
  await shop?.close();
  if (!server) return;
  const ended = once(server.child, "exit");
  server.child.kill();
  await ended;
});

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await window.screenshot(`failed ${task.name}`);
});

test("a window is found, has a browser with a port, and takes diffs, only when it is trusted", async () => {
  await window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
  const address = await addressOf(run, shop.folder);
  await untilPresent(address);
  listener = await Listener.dial(address);
  const advice = "Trust this workspace so that agents can join its browser.";
  await expect.poll(() => window.status.getAttribute("aria-label")).toContain(advice);
  await window.command("Browser Coordinator: Get Started");
  const steps = window.page.locator(".getting-started-step");
  await steps.filter({ hasText: "Trust this workspace" }).waitFor();
  expect(await steps.filter({ hasText: "Start a browser debug session" }).count()).toBe(0);
  const client = { id: "a1", name: "E2E agent", version: "1" };
  const markdown = "```diff\n--- app.js\n+++ app.js\n@@ -1 +1 @@\n-const name\n+let name\n```\n";
  await listener.call("review.present", { client, title: "Change", markdown, mode: "replace" });
  await window.webview("Change").getByRole("button", { name: "Apply" }).click();
  await window.webview("Change").getByText("Nothing was changed. Trust this workspace first.").waitFor();
  const dialog = window.page.locator(".monaco-dialog-box");
  await window.press("F5");
  await dialog.waitFor(); // the editor itself debugs nothing before
  await window.screenshot("trust");
  expect(listener.state.browser).toBeNull();
  await dialog.getByRole("button", { name: /^Trust/ }).click();
  const { browser } = await listener.debugging((state) => state.browser !== null);
  expect(browser?.via).toBe("injected");
});
