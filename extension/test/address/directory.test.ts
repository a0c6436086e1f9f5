// The short directory that takes the place of one that is too long for sockets. Another user is a real one,
// for root, who can start a process of theirs.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { directory, type Surroundings } from "../../src/core/address/address";
import { shortName } from "../../src/core/address/directory";
import { Client } from "../support/client";
import { serve, surroundings, temporaryFolder, testCommands } from "../support/window";

const asRoot = process.getuid?.() === 0;
const otherUser = 54_321;

/** Surroundings whose DIR is too long; `env` is what else there is. */
async function long(env: Surroundings["env"] = {}): Promise<Surroundings & { file: string }> {
  const around = await surroundings();
  const data = join(around.env.XDG_DATA_HOME ?? "", "d".repeat(120));
  const given = { ...around, env: { ...env, XDG_DATA_HOME: data } };
  const file = join(directory(given), shortName);
  onTestFinished(() => {
    const named = text(file).trim();
    if (/^\/tmp\/bc-\w{6}$/.test(named)) rmSync(named, { recursive: true, force: true });
  });
  return { ...given, file };
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function mkdirAsOther(path: string): void {
  const { status, stderr } = spawnSync("mkdir", [path], { uid: otherUser, gid: otherUser, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

async function session(address: string): Promise<unknown> {
  const client = await Client.dial(address);
  const { payload } = await client.ask("state");
  client.close();
  return payload?.session;
}

test("without a private parent it is random, and a private file names it", async () => {
  const around = await long();
  const { address, server } = await serve(testCommands, around);
  const dir = dirname(address);
  expect(dir).toMatch(/^\/tmp\/bc-\w{6}$/);
  expect(lstatSync(dir).mode & 0o777).toBe(0o700);
  expect(text(around.file)).toBe(`${dir}\n`);
  expect(lstatSync(around.file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(around.file))).toEqual([shortName]);
  expect(await session(address)).toBe(server.session);
  const second = await serve(testCommands, around);
  expect(second.address).toBe(address.replace(".sock", "-2.sock"));
});

test.each(["XDG_RUNTIME_DIR", "TMPDIR"])("%s is the parent where it is private", async (name) => {
  const parent = await temporaryFolder();
  const { address } = await serve(testCommands, await long({ [name]: parent }));
  expect(dirname(address)).toBe(join(parent, "browser-coordinator-mcp"));
});

test.each<[string, (parent: string) => void]>([
  ["that others may enter", (parent) => chmodSync(parent, 0o755)],
  ["that is missing", (parent) => rmSync(parent, { recursive: true })],
  [
    "that is a link",
    (parent) => {
      rmSync(parent, { recursive: true });
      symlinkSync("/tmp", parent);
    },
  ],
  ...(asRoot
    ? [
        ["that is another user's", (parent) => chownSync(parent, otherUser, otherUser)] as [
          string,
          (parent: string) => void,
        ],
      ]
    : []),
])("a parent is not used %s", async (_, make) => {
  const parent = await temporaryFolder();
  make(parent);
  const { address } = await serve(testCommands, await long({ XDG_RUNTIME_DIR: parent }));
  expect(address).toMatch(/^\/tmp\/bc-/);
});

test.runIf(asRoot)("another user cannot take its name first", async () => {
  const guess = `/tmp/browser-coordinator-mcp-${process.getuid?.()}`;
  rmSync(guess, { recursive: true, force: true });
  mkdirAsOther(guess);
  onTestFinished(() => rmSync(guess, { recursive: true }));
  const { address, server } = await serve(testCommands, await long());
  expect(await session(address)).toBe(server.session);
});

test.runIf(asRoot)("once it is gone and another user's, the next window makes another", async () => {
  const around = await long();
  const first = await serve(testCommands, around);
  const was = dirname(first.address);
  await first.server.close();
  rmSync(was, { recursive: true });
  mkdirAsOther(was);
  onTestFinished(() => rmSync(was, { recursive: true }));
  const { address, server } = await serve(testCommands, around);
  expect(dirname(address)).not.toBe(was);
  expect(text(around.file)).toBe(`${dirname(address)}\n`);
  expect(await session(address)).toBe(server.session);
  expect(readdirSync(was)).toEqual([]);
});

test.each<[string, (file: string) => void]>([
  ["is deleted", (file) => rmSync(file)],
  ["names nothing", (file) => writeFileSync(file, "")],
  ["names a relative path", (file) => writeFileSync(file, "tmp\n")],
  ["names a directory of all users", (file) => writeFileSync(file, "/tmp\n")],
  ["may be read by others", (file) => chmodSync(file, 0o644)],
])("a window moves where clients find it when the file %s", async (_, spoil) => {
  const around = await long();
  const { server, address } = await serve(testCommands, around);
  onTestFinished(() => rmSync(dirname(address), { recursive: true, force: true }));
  const moved = new Promise<void>((resolve) => {
    server.onClients(() => {
      if (server.address !== address) resolve();
    });
  });
  spoil(around.file);
  await moved;
  expect(text(around.file)).toBe(`${dirname(server.address)}\n`);
  expect(await session(server.address)).toBe(server.session);
});

test("windows that start at once agree on one", async () => {
  const around = await long();
  mkdirSync(dirname(around.file), { recursive: true, mode: 0o700 });
  const windows = await Promise.all(Array.from({ length: 8 }, () => serve(testCommands, around)));
  expect(new Set(windows.map(({ address }) => dirname(address))).size).toBe(1);
  expect(new Set(windows.map(({ address }) => address)).size).toBe(8);
});
