// A real browser with a fresh profile, as js-debug would start it: over a pipe, with a port beside.
import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { pipeFlag, portFlag } from "../../src/core/browser/injection";
import { findBrowser } from "./findbrowser";

const quiet = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchBrowser(userDataDir: string, args = [pipeFlag, portFlag]): ChildProcess {
  const stdio: ("ignore" | "pipe")[] = ["ignore", "ignore", "ignore", "pipe", "pipe"];
  const own = { HOME: userDataDir, TMPDIR: userDataDir, XDG_CONFIG_HOME: userDataDir, XDG_CACHE_HOME: userDataDir };
  const env = { ...process.env, ...own };
  const all = [...quiet, ...args, `--user-data-dir=${userDataDir}`, "about:blank"];
  // Its own group, so that its helpers end with it.
  const child = spawn(findBrowser(), all, { stdio, env, detached: true });
  onTestFinished(() => endBrowser(child));
  return child;
}

/** Ends it as a crash would. */
export async function endBrowser(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-(child.pid as number), "SIGKILL");
  await gone;
}
