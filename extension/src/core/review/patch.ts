// A unified diff of a review, applied to the text of files. The client is not trusted: a diff changes only files
// that exist in the window's folders, and none that tells a program what to run. A hunk fits at its line, or
// else at the one place in the file that reads the same.
import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import * as l10n from "@vscode/l10n";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";
import { relativePath } from "../files/paths";
import { changedFile, codeLines } from "./code";

export interface FilePatch {
  file: string;
  patch: StructuredPatch;
}

/** What the diff changes, file by file; an error for a diff that cannot be applied to any. */
export function filePatches(diff: string): FilePatch[] {
  const all = parsePatch(diff).map((patch): FilePatch => {
    const { oldFileName: before = "", newFileName: after = "", isRename, isCopy } = patch;
    const file = changedFile(before, after);
    if (isRename || isCopy || [before, after].includes("/dev/null") || changedFile(before, before) !== file) {
      throw new Error(l10n.t("It creates, removes or renames {0}. Only existing files can be changed.", file));
    }
    if (patch.hunks.length === 0) throw new Error(l10n.t("It has no lines for {0}.", file));
    return { file, patch };
  });
  if (all.length === 0) throw new Error(l10n.t("It names no file."));
  // Two programs read the diff: the user must have seen the files that it changes.
  const visible = new Set(codeLines("diff", diff).map(({ file }) => file));
  const invisible = all.find(({ file }) => !visible.has(file));
  if (invisible) throw new Error(l10n.t("It does not show clearly that it changes {0}.", invisible.file));
  if (new Set(all.map(({ file }) => file)).size < all.length) throw new Error(l10n.t("It names a file twice."));
  return all;
}

/** The path of a file that a diff may change. */
export async function allowedFile(name: string, folders: readonly string[]): Promise<string> {
  const parts = name.split("/");
  if (/[\\:\p{Cc}]/u.test(name) || parts.includes("") || parts.includes(".."))
    throw new Error(l10n.t("{0} is not a path below a folder of this window.", name));
  refuseProtected(name);
  for (const folder of folders) {
    const path = join(folder, ...parts);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) continue;
    const relative = relativePath(await realpath(folder), real);
    if (relative === undefined) throw new Error(l10n.t("{0} is a link that leads out of the folder.", name));
    refuseProtected(relative.split(sep).join("/"));
    if (!(await stat(real)).isFile()) throw new Error(l10n.t("{0} is not a file.", name));
    return path;
  }
  throw new Error(l10n.t("There is no file {0} in this window's folders.", name));
}

/** .git, .vscode, .husky, .envrc, .mcp.json, …: a change there may run a program without a further question. */
function refuseProtected(name: string): void {
  if (/(^|\/)\.|\.code-workspace$/i.test(name)) {
    throw new Error(l10n.t("{0} configures programs. Change it yourself.", name));
  }
}

/** The text of the file after the change. */
export function patched(text: string, { file, patch }: FilePatch): string {
  const lines = text.split(/\r?\n/);
  for (const { lines: hunk, oldStart } of patch.hunks) {
    const before = hunk.filter((line) => !/^[+\\]/.test(line)).map((line) => line.slice(1).replace(/\r$/, ""));
    if (before.every((line) => line.trim() === ""))
      throw new Error(l10n.t("It does not show between which lines of {0} it adds some.", file));
    const fits = (at: number) => before.every((line, index) => lines[at + index] === line);
    if (!fits(oldStart - 1) && lines.filter((_, at) => fits(at)).length > 1)
      throw new Error(l10n.t("It fits at several places of {0}, and at none of them by its line numbers.", file));
  }
  const result = applyPatch(text, patch, { fuzzFactor: 0 });
  if (result !== false) return result;
  throw new Error(l10n.t("{0} does not have the lines that it changes. It may have been applied already.", file));
}

/** Which whole lines must be replaced by what; offsets in characters. */
export function difference(before: string, after: string): { start: number; end: number; text: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  start = before.slice(0, start).lastIndexOf("\n") + 1;
  let count = 0;
  while (count < shorter - start && before.at(-1 - count) === after.at(-1 - count)) count += 1;
  const lineEnd = before.indexOf("\n", before.length - count);
  const rest = lineEnd < 0 || count === 0 ? 0 : before.length - lineEnd - 1;
  return { start, end: before.length - rest, text: after.slice(start, after.length - rest) };
}
