// The directory lock that binding and deleting windows share.
// Obeys specs/window-protocol/README.md section 2.2.

import { type FileHandle, lstat, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import * as l10n from "@vscode/l10n";
import { code } from "../log";
import { leadsTo, removeFile } from "./file";

// Longer than the greatest age of a lock: on a busy machine many windows may wait first.
const lockTimeout = 15_000;
const oldest = 10_000;

/** Runs work while holding the lock of dir, which it waits for, for a limited time in milliseconds. */
export async function locked<T>(dir: string, work: () => Promise<T>, limit = lockTimeout): Promise<T> {
  const path = join(dir, ".lock");
  const handle = await hold(path, limit);
  try {
    return await work();
  } finally {
    await releaseLock(path, handle);
  }
}

async function hold(path: string, limit: number): Promise<FileHandle> {
  const started = performance.now();
  for (;;) {
    const handle = await take(path);
    if (handle) return handle;
    if (await breakAbandoned(path)) continue;
    if (performance.now() - started > limit) {
      throw new Error(
        l10n.t("another process has held {0} for {1} ms; if none is running, remove that file", path, limit),
      );
    }
    await after(5 + Math.random() * 20);
  }
}

async function take(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    if (code(error) === "EEXIST") return undefined;
    throw error;
  }
  try {
    await file.writeFile(`${process.pid}\n`);
    return file; // kept open: as long as it is, no other file can get its inode's number
  } catch (error) {
    await releaseLock(path, file);
    throw error;
  }
}

/** Removes the lock, unless another process broke it as abandoned and holds it by now. */
async function releaseLock(path: string, handle: FileHandle): Promise<void> {
  try {
    if (await leadsTo(path, await handle.stat({ bigint: true }))) await unlink(path);
  } finally {
    await handle.close();
  }
}

/** Removes a lock whose owner is gone. Answers whether to try again at once. */
async function breakAbandoned(path: string): Promise<boolean> {
  try {
    const identity = await lstat(path, { bigint: true });
    const text = await readFile(path, "utf8");
    // One that is dated well in the future is old as well: the clock was set back since.
    const tooOld = Math.abs(Date.now() - Number(identity.mtimeMs)) > oldest;
    // Empty: its owner is between creating and writing.
    const ownerGone = /^[1-9][0-9]{0,9}\n$/.test(text) && !isRunning(Number(text));
    if (!tooOld && !ownerGone) return false;
    await removeFile(path, identity);
    return true;
  } catch (error) {
    if (code(error) === "ENOENT") return true;
    throw error;
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return code(error) !== "ESRCH";
  }
}
