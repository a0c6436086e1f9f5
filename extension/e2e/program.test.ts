// Which coordinator the window starts and enters elsewhere: the one that comes with the extension in a package
// for one system, here laid where such a package has it; and the error for a setting that names none.
// The tests form one story: they run in their order.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import type { Workbench } from "./support/workbench";

const run = thisRun();
const scene = setScene("milliner", () => {}, { "browserCoordinator.coordinatorPath": "/nonexistent/coordinator" });
let shop: Shop;
let window: Workbench;
let bar: SideBar;
let bin: string;

beforeAll(async () => {
  ({ shop, window } = scene);
  const extensions = join(run.root, "extensions");
  const ours = readdirSync(extensions).find((name) => name.startsWith("browser-coordinator."));
  bin = join(extensions, ours ?? "", "bin");
});

afterAll(() => rmSync(bin, { recursive: true, force: true }));

test("a setting that names no program is named, with its value, wherever the program is missed", async () => {
  const problem = 'browserCoordinator.coordinatorPath is "/nonexistent/coordinator"';
  await window.command("Browser Coordinator: Set Up an Agent");
  await window.toast(problem).waitFor();
  bar = await SideBar.open(window);
  await bar.row("Agents", problem).waitFor();
  await window.command("Browser Coordinator: Copy CDP Endpoint");
  await window.toast(problem).getByRole("button", { name: "Open Settings" }).click();
  await window.page.locator(".settings-editor", { hasText: "Coordinator Path" }).waitFor();
  await window.press("Escape");
});

test("the bundled program is entered by a path that outlives an update of the extension", async () => {
  mkdirSync(bin);
  copyFileSync(run.coordinator, join(bin, "coordinator"));
  writeFileSync(join(shop.folder, ".vscode", "settings.json"), '{ "browserCoordinator.coordinatorPath": "" }');
  await bar.row("Agents", "http://127.0.0.1:").waitFor(); // the editor has read it, and asked the program
  await window.setUp("Claude Code");
  await window.page.locator(".editor-actions").getByRole("button", { name: "Write" }).click();
  await window.toast("is written").getByText("This path only works on this machine. Don't commit it.").waitFor();
  const entry = JSON.parse(readFileSync(join(shop.folder, ".mcp.json"), "utf8")).mcpServers["browser-coordinator"];
  expect(entry.command).toMatch(/globalStorage\/browser-coordinator\.browser-coordinator\/bin\/coordinator$/);

  rmSync(bin, { recursive: true });
  expect(execFileSync(entry.command, ["--version"], { encoding: "utf8" })).toMatch(/coordinator/);
});

test("the list of agents opens at once, and fills when the coordinator has responded", async () => {
  const gate = join(run.root, "gate");
  execFileSync("mkfifo", [gate]);
  mkdirSync(bin);
  const late = `#!/bin/sh\n[ "$1" != setup ] || read -r line <"${gate}"\nexec "${run.coordinator}" "$@"\n`;
  writeFileSync(join(bin, "coordinator"), late, { mode: 0o755 });
  await window.command("Browser Coordinator: Set Up an Agent");
  await window.page.locator(".quick-input-titlebar", { hasText: "Set Up an Agent" }).waitFor();
  await writeFile(gate, "\n");
  await window.rows("Claude Code").waitFor();
  await window.press("Escape");
});
