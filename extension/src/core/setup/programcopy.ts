// A copy of the bundled program outside the extension's folder, which every update replaces.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, copyFile, mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";

/** Whether path can be run. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Makes folder hold the program, and answers with its path there. */
export async function keepCopy(program: string, folder: string): Promise<string> {
  const copy = join(folder, basename(program));
  if (await isSame(program, copy)) return copy;
  await mkdir(folder, { recursive: true });
  const fresh = join(folder, `.${randomBytes(4).toString("hex")}`);
  try {
    await copyFile(program, fresh, constants.COPYFILE_FICLONE);
    const { atime, mtime } = await stat(program);
    await utimes(fresh, atime, mtime);
    await rename(fresh, copy); // one that runs cannot be written to
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  return copy;
}

/** Brings the copy up to date, where there is one. */
export async function renewCopy(program: string, folder: string): Promise<void> {
  if (!(await isProgram(join(folder, basename(program)))) || !(await isProgram(program))) return;
  await keepCopy(program, folder);
}

async function isSame(program: string, copy: string): Promise<boolean> {
  try {
    const [a, b] = await Promise.all([stat(program), stat(copy)]);
    return a.size === b.size && a.mtime.getTime() === b.mtime.getTime();
  } catch {
    return false;
  }
}
