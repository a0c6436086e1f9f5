// The copy of the bundled program, which entries in others' configurations start.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isProgram, keepCopy, renewCopy } from "../../src/core/setup/programcopy";

let root: string;
let program: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bc-copy-"));
  program = join(root, "extension-0.1.0", "coordinator");
  folder = join(root, "storage", "bin");
  mkdirSync(join(root, "extension-0.1.0"));
  bundle("one");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function bundle(version: string): void {
  writeFileSync(program, `#!/bin/sh\necho ${version}\n`);
  chmodSync(program, 0o755);
}

async function output(path: string): Promise<string> {
  return (await promisify(execFile)(path)).stdout.trim();
}

test("it runs when the extension's folder is gone", async () => {
  const copy = await keepCopy(program, folder);
  expect(copy).toBe(join(folder, "coordinator"));
  rmSync(join(root, "extension-0.1.0"), { recursive: true });
  expect(await output(copy)).toBe("one");
  expect(readdirSync(folder)).toEqual(["coordinator"]);
});

test("it is copied again when the bundled one is another, and only then", async () => {
  const copy = await keepCopy(program, folder);
  const { ino } = statSync(copy);
  await keepCopy(program, folder);
  expect(statSync(copy).ino).toBe(ino);
  bundle("three");
  await renewCopy(program, folder);
  expect(await output(copy)).toBe("three");
  // Of the same size, but later.
  bundle("seven");
  utimesSync(program, new Date(), new Date(Date.now() + 60_000));
  await renewCopy(program, folder);
  expect(await output(copy)).toBe("seven");
});

test("it is renewed where it is, and made only when it is asked for", async () => {
  await renewCopy(program, folder);
  expect(await isProgram(join(folder, "coordinator"))).toBe(false);
});

test("it stays when a version of the extension brings none", async () => {
  const copy = await keepCopy(program, folder);
  rmSync(program);
  await renewCopy(program, folder);
  expect(await output(copy)).toBe("one");
});

test("one that runs is replaced, and runs on", async () => {
  const node = readFileSync(process.execPath); // a real one: the system lets nobody write to it while it runs
  writeFileSync(program, node);
  const copy = await keepCopy(program, folder);
  const running = spawn(copy, ["-e", "process.stdin.resume(); console.log('here')"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  await once(running.stdout, "data");
  bundle("two");
  await renewCopy(program, folder);
  expect(await output(copy)).toBe("two");
  expect(running.exitCode).toBeNull();
  running.stdin.end();
  expect(await once(running, "exit")).toEqual([0, null]);
});

test("several windows at once leave one whole copy", async () => {
  copyFileSync(process.execPath, program);
  await Promise.all(Array.from({ length: 4 }, () => keepCopy(program, folder)));
  expect(readdirSync(folder)).toEqual(["coordinator"]);
  expect(readFileSync(join(folder, "coordinator")).equals(readFileSync(program))).toBe(true);
});

test("a directory is no program, nor is a file that may not be run", async () => {
  expect(await isProgram(program)).toBe(true);
  expect(await isProgram(folder)).toBe(false);
  expect(await isProgram(root)).toBe(false);
  chmodSync(program, 0o644);
  expect(await isProgram(program)).toBe(false);
});
