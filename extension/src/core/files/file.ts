// Whether a path still leads to the file that was seen there, and deletion that is sure of it.
// Obeys specs/window-protocol/README.md sections 2.1 and 2.3.
import { randomBytes } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { link, lstat, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { code } from "../log";

/** Identifies a file among others that have had its name. The inode number alone is reused at once. */
export type FileIdentity = Pick<BigIntStats, "ino" | "mtimeNs">;

function isSame(a: FileIdentity, b: FileIdentity): boolean {
  return a.ino === b.ino && a.mtimeNs === b.mtimeNs;
}

/** Whether path leads to the file that was seen. */
export async function leadsTo(path: string, identity: FileIdentity): Promise<boolean> {
  try {
    return isSame(await lstat(path, { bigint: true }), identity);
  } catch (error) {
    if (code(error) === "ENOENT" || code(error) === "ENOTDIR") return false;
    throw error;
  }
}

/** A name of one's own in dir, for what is only there for a moment. */
export function momentary(dir: string, kind: "bind" | "gone"): string {
  return join(dir, `.${kind}-${process.pid}-${randomBytes(4).toString("hex")}`);
}

/** The socket's name in the momentary folder that it is made in. */
export const newSocket = "s";

/**
 * Deletes path if it is the file that was seen. It is moved aside first, so that a process that was
 * stopped for long after its check does not delete another process's file.
 */
export async function removeFile(path: string, identity: FileIdentity): Promise<void> {
  const aside = momentary(dirname(path), "gone");
  try {
    await rename(path, aside);
  } catch (error) {
    if (code(error) === "ENOENT") return;
    throw error;
  }
  if (!(await leadsTo(aside, identity))) await link(aside, path).catch(() => {}); // a newer one has the name
  await unlink(aside);
}
