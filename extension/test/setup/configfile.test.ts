// Files of others: written as the user has seen them, or not at all.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readText, writeText } from "../../src/core/setup/configfile";

let root: string;
let file: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bc-config-"));
  file = join(root, ".cursor", "mcp.json");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function given(text: string | Uint8Array): void {
  mkdirSync(join(root, ".cursor"));
  writeFileSync(file, text, { mode: 0o600 });
}

test("a file that is not there is made, with its folder", async () => {
  expect(await readText(file)).toBeUndefined();
  await writeText(file, undefined, "{}\n");
  expect(await readText(file)).toBe("{}\n");
});

test("a byte order mark and line ends are read as they are; the file's rights stay", async () => {
  given("\ufeff{}\r\n");
  const before = await readText(file);
  expect(before).toBe("\ufeff{}\r\n");
  await writeText(file, before, `${before}x`);
  expect(readFileSync(file, "utf8")).toBe("\ufeff{}\r\nx");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("what has changed meanwhile is not written over, nor what has come or gone", async () => {
  given("theirs");
  await expect(writeText(file, "{}", "ours")).rejects.toThrow("it has changed meanwhile");
  await expect(writeText(file, undefined, "ours")).rejects.toThrow("it has changed meanwhile");
  expect(await readText(file)).toBe("theirs");
  rmSync(file);
  await expect(writeText(file, "theirs", "ours")).rejects.toThrow("it has changed meanwhile");
  expect(await readText(file)).toBeUndefined();
});

test("a link stays one, and what it leads to is written", async () => {
  mkdirSync(join(root, ".cursor"));
  const real = join(root, "dotfiles.json");
  writeFileSync(real, "{}");
  symlinkSync(real, file);
  await writeText(file, "{}", "ours");
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe("ours");
});

test("what may not be written, or leads nowhere, is reported and stays", async () => {
  given("{}");
  await asNobody(() => expect(writeText(file, "{}", "ours")).rejects.toThrow("EACCES"));
  expect(readFileSync(file, "utf8")).toBe("{}");
  const link = join(root, "link.json");
  symlinkSync(join(root, "gone", "link.json"), link);
  await expect(writeText(link, undefined, "ours")).rejects.toThrow("ENOENT");
});

/** Without the right to write, which nothing takes from root. */
async function asNobody(act: () => Promise<void>): Promise<void> {
  chmodSync(root, 0o755);
  chmodSync(file, 0o444);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

test("what is not UTF-8 would be lost: it is not read", async () => {
  given(Buffer.from([0x23, 0xe9, 0x0a]));
  await expect(readText(file)).rejects.toThrow("it is not UTF-8");
});

test("a folder, or what is below a file, is reported", async () => {
  given("{}");
  await expect(readText(root)).rejects.toThrow("EISDIR");
  await expect(readText(join(file, "x.json"))).rejects.toThrow("ENOTDIR");
});
