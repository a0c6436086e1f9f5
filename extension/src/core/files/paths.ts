// Paths as the editor has them and as the window reports them. They differ where a folder was opened by a
// symbolic link: the window reports canonical paths, the editor has the paths by which files were opened.
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";

/** The path as the editor has it. A relative one begins in the first folder. */
export async function toEditor(path: string, folders: readonly string[]): Promise<string> {
  return (await editorPaths(folders))(path);
}

/** toEditor for many paths, as the folders are now. */
export async function editorPaths(folders: readonly string[]): Promise<(path: string) => string> {
  const [first] = folders;
  const canonical = await withCanonical(folders);
  return (path) => {
    if (!isAbsolute(path) && first === undefined) throw new Error("no folder is open: give an absolute path");
    const absolute = resolve(first ?? "", path);
    if (folders.some((folder) => relativePath(folder, absolute) !== undefined)) return absolute;
    for (const { folder, real } of canonical) {
      const inside = relativePath(real, absolute);
      if (inside !== undefined) return join(folder, inside);
    }
    return absolute;
  };
}

/** Gives the canonical path of a file in one of the folders, as they are now; undefined where it is in none. */
export async function windowPaths(folders: readonly string[]): Promise<(path: string) => string | undefined> {
  const canonical = await withCanonical(folders);
  return (path) => {
    for (const { folder, real } of canonical) {
      const inside = relativePath(folder, path);
      if (inside !== undefined) return join(real, inside);
    }
    return undefined;
  };
}

/** The way from the folder down to the path; undefined where it does not lead down. */
export function relativePath(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return !isAbsolute(way) && !/^\.\.([\\/]|$)/.test(way) ? way : undefined;
}

function withCanonical(folders: readonly string[]): Promise<{ folder: string; real: string }[]> {
  return Promise.all(folders.map(async (folder) => ({ folder, real: await realpath(folder).catch(() => folder) })));
}
