// What holds in a window that starts beside others, and after it was reloaded.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Choice, Choices, strictest } from "../../src/core/access/choices";
import type { AccessMode } from "../../src/core/protocol/protocol.generated";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bc-choices-"));
  folder = join(root, "access");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function choice(mode: AccessMode, more: Partial<Choice> = {}): Choice {
  return { mode, setting: "full", stopped: [], ...more };
}

/** Another window's, as its own process writes it. */
function theirs(pid: number, mode: AccessMode): void {
  new Choices(folder).write(choice(mode));
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

const modes = () => new Choices(folder).read("full").map(({ mode }) => mode);

test("without a choice the setting holds", () => {
  expect(strictest(new Choices(folder).read("ask"), "ask")).toMatchObject({ mode: "ask", stopped: [] });
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
  new Choices(folder).write(choice("full"));
  expect(modes().sort()).toEqual(["full", "view"]);
});

test("it takes the place of those that are gone: a reload after a wider choice keeps that", () => {
  theirs(gone(), "view");
  const choices = new Choices(folder);
  expect(modes()).toEqual(["view"]);
  choices.write(choice("full"));
  expect(modes()).toEqual(["full"]);
});

test.runIf(process.platform === "linux")("a process that has a window's number by now is not that window", () => {
  const pid = alive();
  theirs(pid, "view");
  const path = join(folder, `${pid}.json`);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), born: "1" }));
  new Choices(folder).write(choice("ask"));
  expect(modes()).toEqual(["ask"]);
});

test("what cannot be read counts as view, until a choice replaces it", () => {
  mkdirSync(folder);
  writeFileSync(join(folder, "1.json"), "{");
  writeFileSync(join(folder, "2.json"), '{"mode":"everything"}');
  expect(modes()).toEqual(["view", "view"]);
  new Choices(folder).write(choice("ask"));
  expect(readdirSync(folder)).toEqual([`${process.pid}.json`]);
  expect(modes()).toEqual(["ask"]);
});
