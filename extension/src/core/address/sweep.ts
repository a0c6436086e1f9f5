// Removes what crashed windows and sweepers have left in DIR.
// Obeys specs/window-protocol/README.md sections 2.3 and 10, as `coordinator probe` does.
import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { leftBy, newSocket } from "../files/file";
import { isRunning, locked } from "../files/lock";
import { code } from "../log";
import { isName } from "./address";
import { connectError, deleteStale } from "./bind";

/** How many are asked at once, and deleted under one hold of the lock: a window that binds waits for milliseconds only. */
const batch = 32;
const limit = 10_000;

/**
 * Deletes the dead sockets and the leftovers in dir that are provably uid's, and answers their
 * names. It ends at a batch's end after 10 s, or when signal is aborted.
 */
export async function sweep(dir: string, uid: number, signal: AbortSignal): Promise<string[]> {
  const all = await readdir(dir);
  const deadline = performance.now() + limit;
  const removed: string[] = [];
  const inBatches = async (names: string[], work: (names: string[]) => Promise<string[]>) => {
    for (let i = 0; i < names.length && !signal.aborted && performance.now() < deadline; i += batch) {
      removed.push(...(await work(names.slice(i, i + batch))));
    }
  };
  await inBatches(all.filter(isName), (names) => sweepSockets(dir, uid, names));
  await inBatches(all.filter(isLeftover), (names) => sweepLeftovers(dir, uid, names));
  return removed;
}

async function sweepSockets(dir: string, uid: number, names: string[]): Promise<string[]> {
  // Asked without the lock, which only the dead are worth.
  const dead = await pick(names, (name) => isDead(join(dir, name), uid));
  if (dead.length === 0) return [];
  return locked(dir, () => pickInTurn(dead, (name) => deleteStale(join(dir, name), uid)));
}

async function isDead(path: string, uid: number): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined); // gone by now
  return stat?.isSocket() === true && stat.uid === uid && (await connectError(path)) === "ECONNREFUSED";
}

function isLeftover(name: string): boolean {
  const pid = leftBy(name);
  return pid !== undefined && !isRunning(pid);
}

async function sweepLeftovers(dir: string, uid: number, names: string[]): Promise<string[]> {
  return locked(dir, () => pickInTurn(names, (name) => removeLeftover(join(dir, name), uid)));
}

async function removeLeftover(path: string, uid: number): Promise<boolean> {
  try {
    const stat = await lstat(path);
    if (stat.uid !== uid) return false;
    if (stat.isDirectory()) {
      await unlink(join(path, newSocket)).catch(() => {}); // it may have died before
      await rmdir(path);
    } else {
      await unlink(path);
    }
    return true;
  } catch (error) {
    if (code(error) === "ENOENT" || code(error) === "ENOTEMPTY") return false;
    throw error;
  }
}

async function pick(names: string[], test: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept = await Promise.all(names.map(test));
  return names.filter((_, i) => kept[i]);
}

async function pickInTurn(names: string[], test: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) if (await test(name)) kept.push(name);
  return kept;
}
