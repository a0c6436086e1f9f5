// Binds a window's address and releases it.
// Obeys specs/window-protocol/README.md sections 2.1 and 2.3.

import { chmod, link, lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import { basename, join } from "node:path";
import * as l10n from "@vscode/l10n";
import { type FileIdentity, leadsTo, momentary, newSocket, removeFile } from "../files/file";
import { locked } from "../files/lock";
import { code } from "../log";
import { isName, names, type Surroundings } from "./address";
import { isFound, usableDirectory } from "./directory";

export interface Bound {
  address: string;
  /** The directories to watch for a change of what isOurs answers. */
  directories: string[];
  /** Whether clients find the name, and it leads to us. */
  isOurs(): Promise<boolean>;
  /** Removes the name, only while it is still ours. The server is the caller's to close, and after this. */
  release(): Promise<void>;
}

const probeLimit = 1_000;

/** Listens with server at the first free address of key. */
export async function bind(server: Server, key: string, around: Surroundings): Promise<Bound> {
  if (around.platform === "win32") return bindPipe(server, key);
  const place = await usableDirectory(around);
  const { dir, data } = place;
  return locked(dir, async () => {
    // A socket is made with the umask's mode, and the umask is the whole process's: narrowing it for a
    // moment would narrow what other extensions make meanwhile. So it is made in its own folder,
    // which is private from its first moment, and has its mode before it has a name outside.
    const folder = momentary(dir, "bind");
    await mkdir(folder, { mode: 0o700 });
    const temporary = join(folder, newSocket);
    try {
      await listen(server, temporary);
      await chmod(temporary, 0o600);
      const identity = await lstat(temporary, { bigint: true });
      for (const name of names(key, around.platform)) {
        const address = join(dir, name);
        if (await takeName(temporary, address, around.uid)) {
          return {
            address,
            directories: dir === data ? [dir] : [dir, data],
            isOurs: async () => (await leadsTo(address, identity)) && (await isFound(place, around)),
            release: () => release(dir, address, identity),
          };
        }
      }
      throw new Error(l10n.t("all nine addresses of this workspace in {0} are taken by live windows", dir));
    } catch (error) {
      server.close();
      throw error;
    } finally {
      await unlink(temporary).catch(() => {});
      await rmdir(folder).catch(() => {});
    }
  });
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
    const identity = await lstat(address, { bigint: true });
    if (!identity.isSocket() || Number(identity.uid) !== uid || !isName(basename(address))) return false;
    if ((await connectError(address)) !== "ECONNREFUSED") return false;
    await removeFile(address, identity);
    return true;
  } catch (error) {
    if (code(error) === "ENOENT") return true;
    throw error;
  }
}

/** "" when a window answers, a system error's code, or "timeout", which does not prove that it is dead. */
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

async function release(dir: string, address: string, identity: FileIdentity): Promise<void> {
  try {
    await locked(dir, async () => {
      // After "Reload Window" the next window may already have the name.
      if (await leadsTo(address, identity)) await unlink(address);
    });
  } catch (error) {
    if (code(error) !== "ENOENT") throw error; // the directory is gone, and the name with it
  }
}

async function bindPipe(server: Server, key: string): Promise<Bound> {
  for (const address of names(key, "win32")) {
    try {
      await listen(server, address);
      // A pipe's name goes with its server.
      return { address, directories: [], isOurs: async () => true, release: async () => {} };
    } catch (error) {
      if (code(error) !== "EADDRINUSE") throw error;
    }
  }
  throw new Error(l10n.t("all nine pipe names of this workspace are taken by live windows"));
}
