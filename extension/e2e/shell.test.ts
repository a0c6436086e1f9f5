// An agent with a shell in the window's terminal: without any configuration its commands act in the browser
// that the window debugs, the user is asked, and stops it.
// The tests form one story: they run in their order.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilPresent } from "./support/files";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const scene = setScene("draper");
let shop: Shop;
let window: Workbench;
let listener: Listener;
let bar: SideBar;

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
  bar = await SideBar.open(window);
});

afterAll(() => listener?.close());

/** The terminal. While it scrolls, a second one holds the command at its top. */
const terminal = () => window.page.locator(".terminal-wrapper.active .xterm").first();

let commands = 0;

/** Types a command into the terminal. The terminal draws what it prints and has no text: a file has it. */
async function run(command: string): Promise<() => Promise<string>> {
  commands += 1;
  const file = join(shop.folder, `printed-${commands}`);
  await terminal().click();
  await window.page.keyboard.type(`(${command}; echo "exit code $?") > new 2>&1; mv new printed-${commands}`);
  await window.press("Enter");
  return async () => {
    await untilPresent(file);
    return readFile(file, "utf8");
  };
}

const printed = async (command: string) => (await run(command))();

test("its commands act in the browser that the window debugs", async () => {
  await window.press("F5");
  await listener.debugging((state) => state.browser !== null);
  await window.command("Terminal: Create New Terminal");
  await terminal().waitFor();
  const tabs = await printed("CLAUDECODE=1 coordinator tabs");
  expect(tabs).toContain(`${shop.url}?draper`);
  expect(tabs).toMatch(/exit code 0\n$/);
  await bar.row("Agents", /Claude Code/).waitFor();
  expect(await printed("coordinator type '#name' Ada")).toContain('Typed into textbox "Your name"');
  expect(await printed("coordinator sessions")).toMatch(/Claude Code +that of the window /);
});

test("the user is asked about it, with its words", async () => {
  await bar.menu("Agents can do everything", "Agents must ask first");
  await listener.until((state) => state.access.mode === "ask");
  expect(await printed("coordinator find 'Your name'")).toContain('textbox "Your name"'); // it only reads
  const allowed = await run("coordinator click '#buy'");
  await bar.read("Claude Code");
  await bar.question.getByText(/click button "Buy"/i).waitFor();
  await window.screenshot("shell-asks");
  await bar.answer("Allow Once");
  const clicked = await allowed();
  expect(clicked).toContain('Clicked button "Buy"');
  expect(clicked).toContain("Thank you, Ada");
  await bar.row("Activity", /Click button "Buy"/).waitFor();

  const refused = await run("coordinator click '#buy'");
  await bar.question.waitFor();
  await bar.answer("Refuse");
  expect(await refused()).toMatch(/refused.*\n(.*\n)*exit code 3\n$/);
});

test("the user stops it, also while it asks, and resumes it", async () => {
  const asking = await run("coordinator do \"type '#name' Bob\" \"click '#buy'\"");
  await bar.question.waitFor();
  await bar.act("Agents", "Claude Code", "Stop an Agent");
  const stopped = await asking();
  expect(stopped).toContain("stopped by the user");
  expect(stopped).toMatch(/Not done: .*click.*\n(.*\n)*exit code 3\n$/);
  expect(await printed("coordinator tabs")).toMatch(
    /stopped by the user, until the user resumes it.*\n(.*\n)*exit code 3\n$/,
  );
  await bar.row("Agents", /Claude Code.*stopped by you/).waitFor();
  await bar.act("Agents", "Claude Code", "Resume a Stopped Agent");
  await listener.until((state) => state.access.stopped.length === 0);
  expect(await printed("coordinator tabs")).toContain(`${shop.url}?draper`);
});

test("it leaves the window with its session", async () => {
  expect(await printed("coordinator close")).toBe("exit code 0\n");
  await bar.row("Agents", "No agent is connected").waitFor();
  await window.stop();
});
