// Takes a window's address and gives it back.
// Obeys specs/window-protocol/README.md sections 2.1 and 2.3.
import { randomBytes } from "node:crypto";
import { chmod, link, lstat, mkdir, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { join } from "node:path";
import { directory, isName, names, type Surroundings } from "./address";
import { locked } from "./lock";
import { code } from "./log";

export interface Bound {
  address: string;
  /** Removes the name, only while it is still ours. The server is the caller's to close. */
  release(): Promise<void>;
}

const probeLimit = 1_000;

/** Listens with server at the first free address of key. */
export async function bind(server: Server, key: string, around: Surroundings): Promise<Bound> {
  if (around.platform === "win32") return bindPipe(server, key);
  const dir = directory(around);
  await prepare(dir, around.uid);
  return locked(dir, async () => {
    const temporary = join(dir, `.bind-${process.pid}-${randomBytes(4).toString("hex")}`);
    await listen(server, temporary);
    try {
      await chmod(temporary, 0o600);
      const { ino } = await lstat(temporary);
      for (const name of names(key, around.platform)) {
        const address = join(dir, name);
        if (await takeName(temporary, address, around.uid)) {
          return { address, release: () => release(dir, address, ino) };
        }
      }
      throw new Error(`all nine addresses of this workspace in ${dir} are taken by live windows`);
    } catch (error) {
      server.close();
      throw error;
    } finally {
      await unlink(temporary).catch(() => {});
    }
  });
}

/** Makes dir, and refuses one that others may enter. */
async function prepare(dir: string, uid: number): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const stat = await lstat(dir);
  if (!stat.isDirectory()) throw new Error(`${dir} is not a directory; remove it`);
  if (stat.uid !== uid) throw new Error(`${dir} belongs to user ${stat.uid}, not to you; remove it`);
  if ((stat.mode & 0o077) !== 0) throw new Error(`other users may enter ${dir}; run: chmod 700 '${dir}'`);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      server.off("error", settle);
      server.off("listening", settle);
      if (error) reject(error);
      else resolve();
    };
    server.on("error", settle);
    server.on("listening", settle);
    server.listen(path);
  });
}

async function takeName(temporary: string, address: string, uid: number): Promise<boolean> {
  for (;;) {
    try {
      await link(temporary, address);
      return true;
    } catch (error) {
      if (code(error) !== "EEXIST") throw error;
    }
    if (!(await deleteStale(address, uid))) return false;
  }
}

/** Deletes address when it is provably ours and dead (2.3). Answers whether the name is free now. */
export async function deleteStale(address: string, uid: number): Promise<boolean> {
  try {
    const before = await lstat(address);
    const name = address.slice(address.lastIndexOf("/") + 1);
    if (!before.isSocket() || before.uid !== uid || !isName(name)) return false;
    if ((await connectError(address)) !== "ECONNREFUSED") return false;
    const now = await lstat(address);
    if (now.ino !== before.ino || !now.isSocket()) return false;
    await unlink(address);
    return true;
  } catch (error) {
    if (code(error) === "ENOENT") return true;
    throw error;
  }
}

/** "" when somebody answers, a system error's code, or "timeout", which is no death. */
function connectError(address: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const settle = (result: string) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(probeLimit, () => settle("timeout"));
    socket.on("connect", () => settle(""));
    socket.on("error", (error) => settle(code(error) || "unknown"));
  });
}

async function release(dir: string, address: string, ino: number): Promise<void> {
  await locked(dir, async () => {
    try {
      // After "Reload Window" the next window may already have the name.
      if ((await lstat(address)).ino === ino) await unlink(address);
    } catch (error) {
      if (code(error) !== "ENOENT") throw error;
    }
  });
}

async function bindPipe(server: Server, key: string): Promise<Bound> {
  for (const address of names(key, "win32")) {
    try {
      await listen(server, address);
      return { address, release: async () => {} }; // a pipe's name goes with its server
    } catch (error) {
      if (code(error) !== "EADDRINUSE") throw error;
    }
  }
  throw new Error("all nine pipe names of this workspace are taken by live windows");
}
