// Agents find this window: the entry that the extension writes for them, the server that it offers to the
// editor's own, and the terminals' environment.
// The tests form one story: they run in their order.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { untilPresent } from "./support/files";
import { commandLine, marked, markVariable } from "./support/processes";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { addressOf } from "./support/socket";
import { Workbench } from "./support/workbench";

const run = thisRun();
const prepare = ({ folder }: Shop) => {
  const servers = { bystander: { command: run.coordinator, args: ["mcp", "--caps", "network"] } };
  writeFileSync(join(folder, ".vscode", "mcp.json"), JSON.stringify({ servers }));
};
// In a browser tab the editor would save by itself what a test leaves unsaved.
const scene = setScene("grocer", prepare, { "files.autoSave": "off" });
let shop: Shop;
let window: Workbench;

beforeAll(async () => {
  ({ shop, window } = scene);
  await scene.screen.grantPermissions(["clipboard-read", "clipboard-write"]);
});

function file(): string {
  return join(shop.folder, ".mcp.json");
}

/** Has the entry for Claude Code shown, which is not written yet. */
async function proposed(): Promise<void> {
  await window.setUp("Claude Code");
  await window.tab("What will be written to .mcp.json of the folder grocer").waitFor();
  await window.page.locator(".monaco-diff-editor .modified .view-line", { hasText: "browser-coordinator" }).waitFor();
  expect(existsSync(file())).toBe(false);
}

/** Presses a button of the comparison's title. */
async function answer(button: "Write" | "Cancel"): Promise<void> {
  await window.page.locator(".editor-actions").getByRole("button", { name: button }).click();
  await closed();
}

async function closed(): Promise<void> {
  await window.tab("what will be written").waitFor({ state: "detached" });
}

/** Starts an MCP server of the editor's list. */
async function startServer(name: string): Promise<void> {
  await window.choose((timeout) => window.tryCommand("MCP: List Servers", timeout), name, "Start Server");
  // The editor shows the server's output and moves the focus there, which closes any list that is opened before.
  const output = window.page.locator(".part.panel", { has: window.page.locator(".monaco-editor.focused") });
  await output
    .getByText(new RegExp(`Starting server ${name}`.replaceAll(" ", "\\s")))
    .first()
    .waitFor();
}

/** The coordinator that the editor has started with these arguments. The system has no event for its start. */
async function started(args: string[]): Promise<number> {
  const line = [run.coordinator, ...args, ""].join("\0");
  const mark = run.env[markVariable] ?? "";
  const ours = () => marked(mark).filter((pid) => commandLine(pid) === line);
  await expect.poll(ours).toHaveLength(1);
  return ours()[0] as number;
}

function environment(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
}

test("Cancel writes nothing, nor does closing the comparison", async () => {
  await proposed();
  await window.screenshot("setup-shown");
  await answer("Cancel");
  await proposed();
  await window.command("View: Close Editor");
  await closed();
  expect(existsSync(file())).toBe(false);
});

test("a file that has changed meanwhile stays, and the entry is on the clipboard", async () => {
  await proposed();
  writeFileSync(file(), '{ "theirs": 1 }');
  await answer("Write");
  await window.toast("is left as it is: it has changed meanwhile. The entry is on the clipboard").waitFor();
  expect(await readFile(file(), "utf8")).toBe('{ "theirs": 1 }');
  expect(JSON.parse(await window.pasted()).mcpServers).toHaveProperty("browser-coordinator");
  rmSync(file());
});

test("a file that cannot be added to is not proposed to be, nor one with changes that are not saved", async () => {
  writeFileSync(file(), '{ "mcpServers": null }');
  await window.setUp("Claude Code");
  await window.toast("is left as it is: its mcpServers must contain the servers by their names").waitFor();
  await window.openFile(".mcp.json");
  await window.page.keyboard.type(" ");
  const unsaved = window.page.locator(".tab.dirty", { hasText: ".mcp.json" });
  await unsaved.waitFor();
  await window.setUp("Claude Code");
  await window.toast("is left as it is: it has changes that are not saved").waitFor();
  expect(await readFile(file(), "utf8")).toBe('{ "mcpServers": null }');
  await window.command("File: Revert File");
  await unsaved.waitFor({ state: "detached" });
  rmSync(file());
});

test("the name that a workspace gives to its folder makes no link in a notification", async () => {
  const name = "[nowhere](command:workbench.action.files.newUntitledFile)";
  const workspace = join(run.root, "named.code-workspace");
  writeFileSync(workspace, JSON.stringify({ folders: [{ path: shop.folder, name }] }));
  writeFileSync(file(), '{ "mcpServers": null }');
  const named = await Workbench.openWorkspace(run, scene.screen, workspace, await addressOf(run, workspace));
  try {
    await named.setUp("Claude Code");
    const notification = named.toast("is left as it is");
    await notification.waitFor();
    expect(await notification.innerText()).toContain(".mcp.json of the folder [nowhere] (command:");
    expect(await notification.locator("a", { hasText: "nowhere" }).count()).toBe(0);
  } finally {
    await named.close();
    rmSync(file());
  }
});

test("Claude Code is set up: shown first, written when the user agrees, and it works", async () => {
  await proposed();
  await window.openFile("index.html"); // another editor does not take its place
  await window.tab("What will be written").click();
  await window.page.locator(".monaco-diff-editor .modified .view-lines").click();
  await window.press("Control+Enter");
  await closed();
  await window.toast("is written").waitFor();
  const { mcpServers } = JSON.parse(await readFile(file(), "utf8"));
  const entry = mcpServers["browser-coordinator"];
  expect(entry).toEqual({ command: expect.stringMatching(/coordinator$/), args: ["mcp"] });

  // What a host does with it: start it in the folder.
  const agent = await Agent.start(run, shop.folder);
  try {
    expect(await agent.use("window_list")).toMatch(new RegExp(`\\* .*${shop.folder}`));
  } finally {
    await agent.close();
  }
});

test("a second time there is nothing to write, and the list shows that; the user's file is offered", async () => {
  await window.choose(
    async (timeout) => {
      await window.tryCommand("Browser Coordinator: Set Up an Agent", timeout);
      await window.rows(/Claude Code\s*set up in \.mcp\.json/).waitFor({ timeout });
      await window.screenshot("setup-list");
    },
    "Claude Code",
    "For this folder",
  );
  await window.toast("has the entry already").waitFor();
  await window.chooseFrom("Set Up an Agent", "Claude Code", "For you, in every folder");
  await window.tab("What will be written to ~/.claude.json").waitFor();
  await answer("Cancel");
});

test("the editor's own agents are offered the server, which starts in the folder and knows the window", async () => {
  rmSync(file()); // with it the editor has the server from there
  await startServer("Browser Coordinator");
  await window.screenshot("mcp-offer");
  const server = await started(["mcp"]);
  expect(await readlink(`/proc/${server}/cwd`)).toBe(shop.folder);
  expect(environment(server)).toContain(`BROWSER_COORDINATOR_WORKSPACE=${shop.folder}`);
});

test("an MCP server of the user's own, started by the editor, is in the window's folder", async () => {
  await startServer("bystander");
  const server = await started(["mcp", "--caps", "network"]);
  expect(await readlink(`/proc/${server}/cwd`)).toBe(shop.folder);
  expect(environment(server).join()).not.toContain("BROWSER_COORDINATOR_WORKSPACE");
});

test("with an entry of the coordinator in a file that the editor reads, it is not offered a second time", async () => {
  const listed = async () => {
    let labels: string[] = [];
    await window.retry(async (timeout) => {
      await window.tryCommand("MCP: List Servers", timeout);
      await window.rows("bystander").waitFor({ timeout });
      labels = await window.rows("").locator(".label-name").allInnerTexts();
    });
    await window.press("Escape");
    return labels.map((label) => label.replaceAll("\u00a0", " ").trim()).filter((label) => /browser/i.test(label));
  };
  const own = { command: run.coordinator, args: ["mcp"] };
  writeFileSync(file(), JSON.stringify({ mcpServers: { "browser-coordinator": own } })); // Claude Code's
  await expect.poll(listed).toEqual(["browser-coordinator"]);
  rmSync(file());
  await expect.poll(listed).toEqual(["Browser Coordinator"]);
  const entered = join(shop.folder, ".vscode", "mcp.json");
  const before = readFileSync(entered, "utf8");
  const { servers } = JSON.parse(before);
  writeFileSync(entered, JSON.stringify({ servers: { ...servers, "browser-coordinator": own } }));
  await expect.poll(listed).toEqual(["browser-coordinator"]);
  writeFileSync(entered, before);
  await expect.poll(listed).toEqual(["Browser Coordinator"]);
});

test("a terminal of the window names it to its agents", async () => {
  await window.command("Terminal: Create New Terminal");
  const input = window.page.locator(".terminal-wrapper.active .xterm");
  await input.waitFor();
  await input.click();
  await window.page.keyboard.type(
    'printf %s "$BROWSER_COORDINATOR_WORKSPACE" > workspace.new && mv workspace.new workspace',
  );
  await window.page.keyboard.press("Enter");
  const workspace = join(shop.folder, "workspace");
  await untilPresent(workspace);
  expect(await readFile(workspace, "utf8")).toBe(shop.folder);
});
