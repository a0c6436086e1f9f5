// Paths as the editor has them and as the window reports them. They differ where a folder was opened by a
// symbolic link: the window reports canonical paths, the editor has the paths by which files were opened.
import { realpath } from "node:fs/promises";
import { isAbsolute, join, posix, resolve, win32 } from "node:path";

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

/**
 * The way from the folder down to the path; undefined where it does not lead down. All paths are compared by this: on
 * Windows and macOS names that differ in their case alone are one.
 */
export function relativePath(folder: string, path: string, platform = process.platform): string | undefined {
  const { isAbsolute, relative, resolve, sep } = platform === "win32" ? win32 : posix; // that of Windows ignores the case
  const fold = (text: string) => (platform === "darwin" ? text.toLowerCase() : text);
  const way = relative(fold(folder), fold(path));
  if (isAbsolute(way) || /^\.\.([\\/]|$)/.test(way)) return undefined;
  return way === "" ? "" : resolve(path).split(sep).slice(-way.split(sep).length).join(sep);
}

/** Whether both are one file, or one folder. */
export function isSamePath(one: string, other: string, platform = process.platform): boolean {
  return relativePath(one, other, platform) === "";
}

function withCanonical(folders: readonly string[]): Promise<{ folder: string; real: string }[]> {
  return Promise.all(folders.map(async (folder) => ({ folder, real: await realpath(folder).catch(() => folder) })));
}
