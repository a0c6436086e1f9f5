// The lock that a browser holds on its profile: a link SingletonLock to HOST-PID.
//
// js-debug kills a browser that it closes, and one that is killed leaves the lock. At the next launch
// js-debug takes any lock for a browser that runs, and asks the user in a dialog that blocks the window.
// Chromium itself checks for the process, and so does this. Windows has no such link: its lock goes with
// the browser.
import { readlink, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { isRunning } from "../files/lock";
import { code } from "../log";
import { type Configuration, isLaunched, runtimeArgs } from "./injection";

/** How long a browser that is closing may take to exit. */
const exitTimeout = 1_000;
const pollInterval = 50;

/**
 * The profile with which js-debug will launch the browser of a configuration whose variables still
 * stand in it; undefined where that is unknown. storage is our folder of the workspace's storage.
 */
export function profileOf(
  configuration: Configuration,
  folder: string | undefined,
  storage: string | undefined,
): string | undefined {
  const { request, userDataDir = true } = configuration;
  if (!isLaunched(configuration) || request !== "launch") return undefined;
  if (typeof userDataDir === "string") {
    const path = userDataDir.replaceAll("${workspaceFolder}", folder ?? "${workspaceFolder}");
    return path.includes("${") || !isAbsolute(path) ? undefined : resolve(path);
  }
  if (userDataDir !== true || storage === undefined) return undefined;
  const name = runtimeArgs(configuration).includes("--headless") ? ".headless-profile" : ".profile";
  return join(dirname(storage), "ms-vscode.js-debug", name);
}

/**
 * Removes the lock of a browser that is gone, and answers whether there was one. A browser that is
 * about to end is waited for; one that runs on keeps its lock.
 */
export async function unlock(profile: string): Promise<boolean> {
  const deadline = performance.now() + exitTimeout;
  for (;;) {
    const holder = await holderOf(profile);
    if (holder === undefined) return false;
    if (!isRunning(holder)) break;
    if (performance.now() > deadline) return false;
    await after(pollInterval); // the system has no event for the end of a process that is not our child
  }
  for (const name of ["SingletonLock", "SingletonCookie", "SingletonSocket"]) {
    await unlink(join(profile, name)).catch((error: unknown) => {
      if (code(error) !== "ENOENT") throw error;
    });
  }
  return true;
}

/** The process that holds the profile on this machine, if one does. */
async function holderOf(profile: string): Promise<number | undefined> {
  const lock = await readlink(join(profile, "SingletonLock")).catch(() => "");
  const dash = lock.lastIndexOf("-");
  const pid = Number(lock.slice(dash + 1));
  return lock.slice(0, dash) === hostname() && Number.isInteger(pid) && pid > 0 ? pid : undefined;
}
