// The address: what is taken, what is refused, and what is never deleted.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { directory, isName, isTooLong, names } from "../../src/core/address/address";
import { bind, deleteStale } from "../../src/core/address/bind";
import { locked } from "../../src/core/files/lock";
import { silent } from "../../src/core/log";
import { WindowServer } from "../../src/core/window/server";
import { Store } from "../../src/core/window/store";
import { Client } from "../support/client";
import { deadSocket } from "../support/sockets";
import { identity, serve, surroundings, temporaryFolder, testCommands } from "../support/window";

const key = identity.key;

test("a window's directory and socket are its user's alone", async () => {
  const { address, around } = await serve();
  expect(address).toBe(join(directory(around), `ipc-${key}.sock`));
  expect(lstatSync(dirname(address)).mode & 0o777).toBe(0o700);
  expect(lstatSync(address).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(address))).toEqual([`ipc-${key}.sock`]);
});

test("a socket cannot be reached by others at any time, whatever the umask", async () => {
  const around = await surroundings();
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const server = createServer();
  onTestFinished(() => void server.close());
  const modes: Record<string, number> = {};
  // As soon as the socket exists, and before anything else is done with it.
  server.once("listening", () => {
    const dir = directory(around);
    for (const name of readdirSync(dir)) modes[name] = lstatSync(join(dir, name)).mode & 0o777;
  });
  const { address } = await bind(server, key, around);
  expect(Object.keys(modes)).toEqual([expect.stringMatching(/^\.bind-\d+-[0-9a-f]{8}$/), ".lock"]);
  expect(Object.values(modes)).toEqual([0o700, 0o600]);
  expect(lstatSync(address).mode & 0o777).toBe(0o600);
  expect(process.umask()).toBe(0); // the process's own is not touched
});

test("closing removes the socket and leaves nothing", async () => {
  const { server, address } = await serve();
  await server.close();
  expect(readdirSync(dirname(address))).toEqual([]);
});

test("two windows on one folder: both are served, and each removes only its own", async () => {
  const first = await serve();
  const second = await serve(testCommands, first.around);
  expect(second.address).toBe(first.address.replace(".sock", "-2.sock"));
  await first.server.close();
  const third = await serve(testCommands, first.around);
  expect(third.address).toBe(first.address);
  await second.server.close();
  expect(existsSync(third.address)).toBe(true);
  expect((await (await third.dial()).ask("ping")).success).toBe(true);
});

/** Puts in the name's place, in one step, what make has made elsewhere. */
function replaced(make: (path: string) => unknown): (path: string) => Promise<void> {
  return async (path) => {
    await make(`${path}.new`);
    renameSync(`${path}.new`, path);
  };
}

function listening(path: string): Promise<void> {
  const other = createServer();
  onTestFinished(() => void other.close());
  return new Promise((resolve) => other.listen(path, resolve));
}

test.each<[string, (path: string) => unknown, string]>([
  ["deleted", unlinkSync, ""],
  ["renamed", (path) => renameSync(path, `${path}.away`), ""],
  ["removed with its directory", (path) => rmSync(dirname(path), { recursive: true }), ""],
  ["replaced by a dead socket", replaced(deadSocket), ""],
  ["replaced by another window's socket", replaced(listening), "-2"],
  ["replaced by a file", replaced((path) => writeFileSync(path, "precious")), "-2"],
  ["replaced by a link", replaced((path) => symlinkSync("/nowhere", path)), "-2"],
])("a name that is %s: the window is found again, and connections stay", async (_, take, suffix) => {
  let warned = (_: string) => {};
  const log = { ...silent, warn: (message: string) => warned(message) };
  const { server, address, dial } = await serve(testCommands, undefined, { log });
  const client = await dial();
  const again = new Promise<string>((resolve) => (warned = resolve));
  await take(address);
  expect(await again).toContain("bound again");
  expect(server.address).toBe(address.replace(".sock", `${suffix}.sock`));
  expect((await client.ask("ping")).success).toBe(true);
  const late = await Client.dial(server.address);
  expect((await late.ask("state")).payload?.session).toBe(server.session);
  late.close();
  const taken = suffix && lstatSync(address, { bigint: true });
  await server.close();
  expect(existsSync(server.address)).toBe(false);
  if (taken) expect(lstatSync(address, { bigint: true })).toEqual(taken); // nothing of somebody else's is touched
});

test("nine windows on one folder, and no tenth", async () => {
  const { around } = await serve();
  for (let i = 2; i <= 9; i++) expect((await serve(testCommands, around)).address).toContain(`-${i}.sock`);
  await expect(serve(testCommands, around)).rejects.toThrow("all nine addresses");
});

test("a dead window's name is taken over", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await deadSocket(join(dir, `ipc-${key}.sock`));
  const { address, dial } = await serve(testCommands, around);
  expect(address).toBe(join(dir, `ipc-${key}.sock`));
  expect((await (await dial()).ask("ping")).success).toBe(true);
});

test("a file, a link and a folder in the name's place stay", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [file, link, folder] = names(key, "linux").map((name) => join(dir, name));
  writeFileSync(file as string, "mine");
  await deadSocket(join(dir, "other"));
  symlinkSync(join(dir, "other"), link as string);
  mkdirSync(folder as string);
  const { address } = await serve(testCommands, around);
  expect(address).toContain("-4.sock");
  for (const path of [file, link, folder, join(dir, "other")]) expect(() => lstatSync(path as string)).not.toThrow();
});

test("only a name of the form is deleted, however dead", async () => {
  const dir = await temporaryFolder();
  const uid = process.getuid?.() ?? 0;
  await deadSocket(join(dir, "postgres.sock"));
  expect(await deleteStale(join(dir, "postgres.sock"), uid)).toBe(false);
  expect(existsSync(join(dir, "postgres.sock"))).toBe(true);
  await deadSocket(join(dir, "ipc-pid-7-2.sock"));
  expect(await deleteStale(join(dir, "ipc-pid-7-2.sock"), uid + 1)).toBe(false);
  expect(await deleteStale(join(dir, "ipc-pid-7-2.sock"), uid)).toBe(true);
});

test("a stopped window is not taken for dead", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `ipc-${key}.sock`);
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGSTOP");
  expect((await serve(testCommands, around)).address).toContain("-2.sock");
});

test("a window that was taken for dead leaves the name to the next one", async () => {
  const around = await surroundings();
  const [first, next] = [createServer(), createServer()];
  onTestFinished(() => [first, next].forEach((server) => void server.close()));
  const { address, release } = await bind(first, key, around);
  renameSync(address, `${address}.kept`); // keeps its inode from being used again
  expect((await bind(next, key, around)).address).toBe(address);
  await release();
  expect(lstatSync(address).isSocket()).toBe(true);
});

test("a directory that is another user's, and a link or a file in its place, are refused, not used", async () => {
  const around = await surroundings();
  const dir = directory(around);
  const served = (uid = around.uid) => serve(testCommands, { ...around, uid });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await expect(served(around.uid + 1)).rejects.toThrow(`belongs to user ${around.uid}`);
  expect(readdirSync(dir)).toEqual([]);
  renameSync(dir, `${dir}-elsewhere`);
  symlinkSync(`${dir}-elsewhere`, dir);
  await expect(served()).rejects.toThrow("not a directory");
  expect(readdirSync(dir)).toEqual([]);
  unlinkSync(dir);
  writeFileSync(dir, "mine");
  await expect(served()).rejects.toThrow(dir);
  expect(readFileSync(dir, "utf8")).toBe("mine");
});

test("a directory that others may enter is refused, not used", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o755);
  await expect(serve(testCommands, around)).rejects.toThrow(`chmod 700 '${dir}'`);
  expect(readdirSync(dir)).toEqual([]);
});

test("a path is too long when a socket's would be", () => {
  // 107 bytes fit: /…/browser-coordinator-mcp/ipc-0123456789abcdef-9.sock
  const room = 107 - 28;
  expect(isTooLong("d".repeat(room), "linux")).toBe(false);
  expect(isTooLong("d".repeat(room + 1), "linux")).toBe(true);
  expect(isTooLong("ü".repeat(room / 2 + 1), "linux")).toBe(true);
  expect(isTooLong("d".repeat(room), "darwin")).toBe(true);
});

test("XDG_DATA_HOME counts only when it is absolute", () => {
  const inHome = (env: Record<string, string>, platform: NodeJS.Platform = "linux") =>
    directory({ platform, env: { HOME: "/home/dev", ...env }, uid: 1000 });
  const standard = "/home/dev/.local/share/browser-coordinator-mcp";
  expect(inHome({})).toBe(standard);
  expect(inHome({ XDG_DATA_HOME: "" })).toBe(standard);
  expect(inHome({ XDG_DATA_HOME: "data" })).toBe(standard);
  expect(inHome({ XDG_DATA_HOME: "/data/", HOME: "" })).toBe("/data/browser-coordinator-mcp");
  expect(inHome({}, "darwin")).toBe(standard);
  for (const home of ["", "home/dev"]) expect(() => inHome({ HOME: home })).toThrow("set one of them");
  expect(() => directory({ platform: "linux", env: {}, uid: 1000 })).toThrow("set one of them");
});

test("names", () => {
  expect(names("pid-7", "win32")[1]).toBe("\\\\.\\pipe\\browser-coordinator-mcp-pid-7-2");
  for (const name of [
    "ipc-0123456789abcdef.sock",
    "ipc-0123456789abcdef-9.sock",
    "ipc-pid-7.sock",
    "ipc-pid-7-2.sock",
  ]) {
    expect(isName(name)).toBe(true);
  }
  for (const name of [
    "ipc-0123456789ABCDEF.sock",
    "ipc-0123.sock",
    "ipc-0123456789abcdef-1.sock",
    ".lock",
    "ipc-pid-.sock",
  ]) {
    expect(isName(name)).toBe(false);
  }
});

const ours = `${process.pid}\n`;
const day = 24 * 60 * 60 * 1_000;

/** Leaves a lock behind, of the given age in milliseconds. */
async function leaveLock(text: string, age: number): Promise<{ dir: string; path: string }> {
  const dir = await temporaryFolder();
  const path = join(dir, ".lock");
  writeFileSync(path, text);
  const then = new Date(Date.now() - age);
  utimesSync(path, then, then);
  return { dir, path };
}

test.each([
  ["of a process that is gone", "4194305\n", 0], // above the largest pid
  ["of one that is gone, from tomorrow: the clock leapt", "4194305\n", -day],
  ["of a living process, from tomorrow: the clock was set back", ours, -day],
  ["empty, from tomorrow", "", -day],
  ["too old", ours, 11_000],
  ["too old and empty", "", 11_000],
])("a lock is broken: %s", async (_, text, age) => {
  const { dir } = await leaveLock(text, age);
  expect(await locked(dir, async () => "done")).toBe("done");
  expect(readdirSync(dir)).toEqual([]);
});

test.concurrent.each([
  ["of a living process", ours, 0],
  ["of a living process, from a moment ahead", ours, -4_000],
  ["empty: its owner is about to write", "", 0],
])("a lock is waited for, for a limited time: %s", async (_, text, age) => {
  const { dir, path } = await leaveLock(text, age);
  await expect(locked(dir, async () => "done", 1_000)).rejects.toThrow(path);
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a lock that was broken meanwhile is not the first owner's to remove", async () => {
  const dir = await temporaryFolder();
  const path = join(dir, ".lock");
  await locked(dir, async () => {
    unlinkSync(path);
    writeFileSync(path, "the second owner's");
  });
  expect(readFileSync(path, "utf8")).toBe("the second owner's");
});

test("fifty windows that bind and close at once: each is reachable, and nothing stays", async () => {
  const around = await surroundings();
  const rounds = Array.from({ length: 50 }, async (_, i) => {
    const own = { ...identity, key: `${i % 25}`.padStart(16, "0") };
    const server = new WindowServer({
      name: "t",
      version: "1",
      identity: own,
      store: new Store(),
      commands: new Map(),
      log: silent,
    });
    const address = await server.open(around);
    const client = await Client.dial(address);
    expect((await client.ask("state")).payload?.session).toBe(server.session);
    client.close();
    await server.close();
  });
  await Promise.all(rounds);
  expect(readdirSync(directory(around))).toEqual([]);
});

test("where a file stands in the directory's place, the error names it", async () => {
  const around = await surroundings();
  writeFileSync(dirname(directory(around)), "a file where the directory should be");
  await expect(bind(createServer(), key, around)).rejects.toThrow(/ENOTDIR|EEXIST/);
});
