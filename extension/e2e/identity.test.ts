// Who a window is that has more than a folder, or none, as its clients find it.
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "../test/support/client";
import { coordinator, endpoint, windows } from "./support/coordinator";
import { untilAbsent, untilFound } from "./support/files";
import { thisRun } from "./support/run";
import { addressOf } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
const root = join(realpathSync(run.root), "market");
const folders = ["fruit", "fish"].map((name) => join(root, name));
const file = join(root, "market.code-workspace");
let screen: BrowserContext;

beforeAll(async () => {
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify({ folders: [{ path: "fruit" }, { path: "./fish/" }] }));
  symlinkSync(root, join(run.root, "link"));
  screen = await openScreen(run);
});

afterAll(async () => {
  await screen?.close();
});

interface Probed {
  address: string;
  verdict: string;
  workspace: string | null;
  folders: string[];
  pid: number;
}

/** What a probe finds at an address. */
async function probed(address: string): Promise<Probed | undefined> {
  const { sockets } = JSON.parse(await coordinator(run, "probe", "--json", "--dry-run")) as { sockets: Probed[] };
  return sockets.find((row) => row.address === address);
}

/** The hello of the window at an address. */
async function hello(address: string): Promise<Record<string, unknown> | undefined> {
  const client = await Client.dial(address);
  const { payload } = await client.ask("hello", { client: { name: "test", version: "" } });
  client.close();
  return payload;
}

test("a .code-workspace file is one window, by its canonical path, and has all its folders", async () => {
  const address = await addressOf(run, file);
  const window = await Workbench.openWorkspace(run, screen, join(run.root, "link", "market.code-workspace"), address);
  expect(await hello(address)).toMatchObject({ workspace: file, folders });
  expect(await probed(address)).toMatchObject({ verdict: "live", workspace: file, folders });
  expect(await windows(run)).toContainEqual(expect.objectContaining({ address, workspace: file, kind: "vscode" }));
  const its = await endpoint(run, file);
  for (const folder of folders) expect(await endpoint(run, folder)).toBe(its);
  // A file in a folder is one of which folder?
  await window.setUp("Claude Code", "fish");
  await window.page.locator(".editor-actions").getByRole("button", { name: "Write" }).click();
  await window.toast("is written").waitFor();
  expect([existsSync(join(root, "fish", ".mcp.json")), existsSync(join(root, "fruit", ".mcp.json"))]).toEqual([
    true,
    false,
  ]);
  await window.close();
  await untilAbsent(address);
});

test("an empty window is served under its process, and is nobody's workspace", async () => {
  const window = await Workbench.open(run, screen, "ew=true");
  const name = await untilFound(run.sockets, /^ipc-pid-[0-9]+\.sock$/);
  const address = join(run.sockets, name);
  const pid = Number(/[0-9]+/.exec(name)?.[0]);
  expect(await hello(address)).toMatchObject({ workspace: null, folders: [], pid });
  expect(await probed(address)).toMatchObject({ verdict: "live", workspace: null, folders: [], pid });
  expect(await windows(run)).toContainEqual(expect.objectContaining({ address, workspace: null, kind: "vscode" }));
  await window.close();
  await untilAbsent(address);
});
