// Diffs of a client: which files they may change, and where in a file they fit.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allowedFile, difference, filePatches, patched } from "../../src/core/review/patch";
import { temporaryFolder } from "../support/window";

const hunk = "@@ -2,2 +2,2 @@\n two\n-three\n+3\n";
const diff = (file: string, hunks = hunk) => `--- a/${file}\n+++ b/${file}\n${hunks}`;
const text = "one\ntwo\nthree\nfour\n";

function apply(before: string, ...hunks: string[]): string {
  const [patch] = filePatches(diff("f", hunks.join("")));
  return patch ? patched(before, patch) : "";
}

test("a hunk fits at its line, or at the only place that reads the same, and with the file's line ends", () => {
  expect(apply(text, hunk)).toBe("one\ntwo\n3\nfour\n");
  expect(apply(`zero\n${text}`, hunk)).toBe("zero\none\ntwo\n3\nfour\n");
  expect(apply(text + text, hunk)).toBe("one\ntwo\n3\nfour\none\ntwo\nthree\nfour\n");
  expect(apply(text.replaceAll("\n", "\r\n"), hunk)).toBe("one\r\ntwo\r\n3\r\nfour\r\n");
  expect(apply(text, hunk, "@@ -4 +4,2 @@\n four\n+five\n")).toBe("one\ntwo\n3\nfour\nfive\n");
});

test("a hunk that fits nowhere, at several places, or anywhere is refused", () => {
  expect(() => apply("one\nTWO\nthree\n", hunk)).toThrow("f does not have the lines that it changes");
  expect(() => apply("one\ntwo \nthree\n", hunk)).toThrow("does not have");
  expect(() => apply(`zero\n${text}${text}`, hunk)).toThrow("fits at several places");
  expect(() => apply(text, "@@ -2,0 +3 @@\n+new\n")).toThrow("between which lines");
  expect(() => apply(text, hunk, "@@ -9 +9 @@\n-nine\n+9\n")).toThrow("does not have");
});

test("a diff that is none, or that is about more than the lines of files, is refused", () => {
  expect(() => filePatches("hello")).toThrow();
  expect(() => filePatches(diff("f", "@@ -1,9 +1,9 @@\n one\n"))).toThrow();
  expect(() => filePatches(diff("f", ""))).toThrow("no lines for f");
  expect(() => filePatches(`--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n`)).toThrow("creates, removes or renames new");
  expect(() => filePatches(`--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`)).toThrow("creates, removes or renames old");
  expect(() => filePatches(`--- a/old\n+++ b/new\n${hunk}`)).toThrow("creates, removes or renames new");
  expect(() => filePatches(diff("f") + diff("f"))).toThrow("names a file twice");
  // Names that the user would not see as such.
  const escaped = `--- "a/\\056git/config"\n+++ "b/\\056git/config"\n${hunk}`;
  expect(() => filePatches(escaped)).toThrow("not show clearly that it changes .git/config");
  expect(() => filePatches(`${diff("f")}---\tg\n+++\tg\n${hunk}`)).toThrow("not show clearly that it changes g");
  expect(filePatches(`--- src/f.ts\n+++ src/f.ts\n${hunk}${diff("g")}`).map(({ file }) => file)).toEqual([
    "src/f.ts",
    "g",
  ]);
});

test("only files of the folders can be changed, and none that tells a program what to run", async () => {
  const root = await temporaryFolder();
  const [first, second] = [join(root, "first"), join(root, "second")];
  for (const folder of ["first/src", "first/.git/hooks", "first/.vscode", "second"]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  const files = ["secret", "first/src/a.ts", "first/.git/hooks/pre-commit", "first/.vscode/tasks.json", "second/b.ts"];
  for (const file of [...files, "first/x.code-workspace"]) await writeFile(join(root, file), "x");
  await symlink(join(root, "secret"), join(first, "out"));
  await symlink(root, join(first, "up"));
  await symlink(join(first, ".git"), join(first, "git"));
  await symlink(join(first, "src"), join(first, "inside"));
  const allowed = (name: string) => allowedFile(name, [first, second]);

  expect(await allowed("src/a.ts")).toBe(join(first, "src", "a.ts"));
  expect(await allowed("inside/a.ts")).toBe(join(first, "inside", "a.ts"));
  expect(await allowed("b.ts")).toBe(join(second, "b.ts"));
  for (const name of ["../secret", "src/../../secret", "/etc/passwd", "C:/x", "C:\\x", "..\\secret", "src//a.ts", ""]) {
    await expect(allowed(name), name).rejects.toThrow("is not a path below");
  }
  for (const name of ["out", "up/secret"]) await expect(allowed(name), name).rejects.toThrow("leads out");
  const configuring = [".vscode/tasks.json", ".VSCODE/tasks.json", ".git/hooks/pre-commit", "git/hooks/pre-commit"];
  for (const name of [...configuring, "src/.envrc", "x.code-workspace", "./src/a.ts"]) {
    await expect(allowed(name), name).rejects.toThrow("configures programs");
  }
  await expect(allowed("none.ts")).rejects.toThrow("There is no file none.ts");
  await expect(allowed("src")).rejects.toThrow("src is not a file");
});

test("what is replaced are whole lines", () => {
  const replaced = (before: string, after: string) => {
    const { start, end, text } = difference(before, after);
    expect(before.slice(0, start) + text + before.slice(end)).toBe(after);
    return [before.slice(start, end), text];
  };
  expect(replaced("a\r\nbc\r\nd\r\n", "a\r\nbX\r\nd\r\n")).toEqual(["bc\r\n", "bX\r\n"]);
  expect(replaced("a\na\na\n", "a\na\n")).toEqual(["a\n", ""]);
  expect(replaced("a\nb", "a\nb\n")).toEqual(["b", "b\n"]);
  expect(replaced("\na\n", "\n\na\n")).toEqual(["a\n", "\na\n"]);
  expect(replaced("", "x\n")).toEqual(["", "x\n"]);
  expect(replaced("same\n", "same\n")).toEqual(["", ""]);
});
