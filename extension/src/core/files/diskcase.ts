// The names of a path as they are on a disk that ignores case.
// Obeys specs/window-protocol/README.md section 1, step 1; its Go twin is vscodeipc/internal/identity/resolve_unix.go.
import { lstat, readdir } from "node:fs/promises";

/** What is asked of the file system; tests have one that ignores case. */
export interface Disk {
  /** Which file exists there; undefined if none does. */
  file(path: string): Promise<string | undefined>;
  names(dir: string): Promise<string[]>;
}

const disk: Disk = {
  async file(path) {
    const info = await lstat(path, { bigint: true }).catch(() => undefined);
    return info && `${info.dev}:${info.ino}`;
  },
  names: (dir) => readdir(dir),
};

/**
 * Gives each element of a path without links the case that it has in its directory. A directory is read only
 * where the same element in another case leads to the same file, so that nothing is read where case counts. An
 * unreadable directory keeps the name as it was asked for.
 */
export async function nameOnDisk(path: string, on: Disk = disk): Promise<string> {
  let out = "";
  for (const element of path.split("/").filter((each) => each !== "")) {
    const other = swapCase(element);
    const file = other === element ? undefined : await on.file(`${out}/${element}`);
    const isSameFile = file !== undefined && file === (await on.file(`${out}/${other}`));
    out += `/${isSameFile ? await inDirectory(`${out}/`, element, on) : element}`;
  }
  return out === "" ? "/" : out;
}

async function inDirectory(dir: string, element: string, on: Disk): Promise<string> {
  const names = await on.names(dir).catch((): string[] => []);
  if (names.includes(element)) return element; // two names of one file, where case counts
  return names.findLast((name) => folded(name) === folded(element)) ?? element;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
}
