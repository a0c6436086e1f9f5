// The directory lock that binding and deleting windows share.
// Obeys specs/window-protocol/README.md section 2.2.
import { randomBytes } from "node:crypto";
import { link, lstat, open, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { code } from "./log";

const patience = 2_000;
const oldest = 10_000;

/** Runs work while holding the lock of dir. */
export async function locked<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const path = join(dir, ".lock");
  const started = performance.now();
  while (!(await take(path))) {
    if (await isAbandoned(path)) await breakLock(dir, path);
    else if (performance.now() - started > patience) {
      throw new Error(`another process has held ${path} for ${patience} ms; if none is running, remove that file`);
    } else await after(5 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    await unlink(path).catch(() => {}); // broken by someone who took us for dead
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(`${process.pid}\n`);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (code(error) === "EEXIST") return false;
    throw error;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [text, stat] = await Promise.all([readFile(path, "utf8"), lstat(path)]);
    if (Date.now() - stat.mtimeMs > oldest) return true;
    // Empty: its owner is between creating and writing.
    return /^[1-9][0-9]{0,9}\n$/.test(text) && !isRunning(Number(text));
  } catch (error) {
    if (code(error) === "ENOENT") return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return code(error) !== "ESRCH";
  }
}

async function breakLock(dir: string, path: string): Promise<void> {
  const aside = join(dir, `.broken-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    const before = await lstat(path);
    await rename(path, aside);
    const moved = await lstat(aside);
    // Somebody else broke it and a third took it in between: give it back.
    if (moved.ino !== before.ino || moved.mtimeMs !== before.mtimeMs) await link(aside, path).catch(() => {});
    await unlink(aside);
  } catch (error) {
    if (code(error) !== "ENOENT") throw error;
  }
}
