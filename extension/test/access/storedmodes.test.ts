// What holds in a window that starts beside others, and after it was reloaded.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { setMode, stop } from "../../src/core/access/access";
import { type StoredMode, StoredModes, strictest } from "../../src/core/access/storedmodes";
import { silent } from "../../src/core/log";
import type { AccessMode } from "../../src/core/protocol/protocol.generated";
import { Store } from "../../src/core/window/store";
import { WindowAccess } from "../../src/vscode/access";
import * as editor from "../support/editor";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bc-choices-"));
  folder = join(root, "access");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function choice(mode: AccessMode, more: Partial<StoredMode> = {}): StoredMode {
  return { mode, setting: "full", stopped: [], ...more };
}

/** Another window's, as its own process writes it. */
function theirs(pid: number, mode: AccessMode, more: Partial<StoredMode> = {}): void {
  new StoredModes(folder).write(choice(mode, more));
  const path = join(folder, `${process.pid}.json`);
  const stat = (() => {
    try {
      return readFileSync(`/proc/${pid}/stat`, "latin1");
    } catch {
      return undefined;
    }
  })();
  const born = stat?.slice(stat.lastIndexOf(")")).split(" ")[20] ?? "";
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), pid, born }));
  rmSync(path);
}

function alive(): number {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => void child.stdin.end());
  return child.pid as number;
}

function gone(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}

const modes = () => new StoredModes(folder).read("full").map(({ mode }) => mode);

test("without a choice the setting holds", () => {
  expect(strictest(new StoredModes(folder).read("ask"), "ask")).toMatchObject({ mode: "ask", stopped: [] });
});

test("of several windows the strictest holds, and all that are stopped in one of them", () => {
  const all = [choice("full", { stopped: ["a"] }), choice("view", { stopped: ["b", "a"] }), choice("ask")];
  expect(strictest(all, "full")).toMatchObject({ mode: "view", stopped: ["a", "b"] });
});

test("a window's own choice may be wider than the setting, until the setting changes", () => {
  const kept = [choice("full", { setting: "ask", stopped: ["a"] })];
  expect(strictest(kept, "ask").mode).toBe("full");
  expect(strictest(kept, "view")).toMatchObject({ mode: "view", stopped: ["a"] });
});

test("a window that chooses leaves the choice of one that is open", () => {
  theirs(alive(), "view");
  new StoredModes(folder).write(choice("full"));
  expect(modes().sort()).toEqual(["full", "view"]);
});

test("it takes the place of those that are gone: a reload after a wider choice keeps that", () => {
  theirs(gone(), "view");
  const choices = new StoredModes(folder);
  expect(modes()).toEqual(["view"]);
  choices.write(choice("full"));
  expect(modes()).toEqual(["full"]);
});

test("a user who takes over chooses no mode: one that is reloaded meanwhile keeps its own", () => {
  const store = new Store();
  const context = { globalStorageUri: editor.Uri.file(root) } as never;
  const access = new WindowAccess(context, store, silent);
  access.restore({ workspace: "/shop", key: "." } as never);
  setMode(store, "full");
  const watching = access.watch();
  onTestFinished(() => watching.dispose());
  theirs(gone(), "view", { open: false });
  store.set({ access: { ...store.state.access, takenOver: true } });
  expect(modes()).toEqual(["view"]);
  stop(store, { name: "Agent" });
  expect(modes()).toEqual(["full"]);
});

test("a window that ends leaves the choice of one that ended before it", () => {
  theirs(gone(), "view", { open: false, stopped: ["a"] });
  const choices = new StoredModes(folder);
  choices.write(choice("full", { open: false }));
  expect(modes().sort()).toEqual(["full", "view"]);
  expect(strictest(choices.read("full"), "full")).toMatchObject({ mode: "view", stopped: ["a"] });
});

test("only what another window that is open is set to counts as such", () => {
  const open = () => new StoredModes(folder).read("full").map((each) => `${each.mode} ${each.open}`);
  theirs(alive(), "ask");
  theirs(alive(), "view", { open: false }); // it ends, or is reloaded, and its process may last
  expect(open().sort()).toEqual(["ask true", "view false"]);
  new StoredModes(folder).write(choice("full"));
  expect(open().sort()).toEqual(["ask true", "full false"]);
});

test.runIf(process.platform === "linux")("a process that has a window's number by now is not that window", () => {
  const pid = alive();
  theirs(pid, "view");
  const path = join(folder, `${pid}.json`);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), born: "1" }));
  new StoredModes(folder).write(choice("ask"));
  expect(modes()).toEqual(["ask"]);
});

test("what cannot be read counts as view, until a choice replaces it", () => {
  mkdirSync(folder);
  writeFileSync(join(folder, "1.json"), "{");
  writeFileSync(join(folder, "2.json"), '{"mode":"everything"}');
  expect(modes()).toEqual(["view", "view"]);
  new StoredModes(folder).write(choice("ask"));
  expect(readdirSync(folder)).toEqual([`${process.pid}.json`]);
  expect(modes()).toEqual(["ask"]);
});
