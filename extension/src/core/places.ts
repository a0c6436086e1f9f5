// Paths as the editor has them and as the window tells them. They differ where a folder was opened by a
// symbolic link: the window tells canonical paths, the editor knows its files by the way they were opened.
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";

/** The path as the editor has it. A relative one begins in the first folder. */
export async function toEditor(path: string, folders: readonly string[]): Promise<string> {
  const [first] = folders;
  if (!isAbsolute(path) && first === undefined) throw new Error("no folder is open: give an absolute path");
  const absolute = resolve(first ?? "", path);
  if (folders.some((folder) => below(folder, absolute) !== undefined)) return absolute;
  for (const folder of folders) {
    const inside = below(await canonical(folder), absolute);
    if (inside !== undefined) return join(folder, inside);
  }
  return absolute;
}

/** The canonical path of a file in one of the folders; undefined where it is in none of them. */
export async function toWindow(path: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const inside = below(folder, path);
    if (inside !== undefined) return join(await canonical(folder), inside);
  }
  return undefined;
}

/** The way from the folder down to the path; undefined where it does not lead down. */
export function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return !isAbsolute(way) && !/^\.\.([\\/]|$)/.test(way) ? way : undefined;
}

function canonical(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}
