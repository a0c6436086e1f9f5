// Every process that a worker's tests start carries the worker's mark in its environment, and so do those that
// it starts in turn; at the end just these are ended.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";

export const markVariable = "BROWSER_COORDINATOR_E2E";

export function newMark(): string {
  return randomUUID();
}

/** The processes with this mark, except our own. */
export function marked(mark: string, variable = markVariable): number[] {
  const wanted = `${variable}=${mark}`;
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(wanted);
      } catch {
        return false; // gone meanwhile, or not ours
      }
    })
    .map(Number);
}

/** What a process was started with, each part with a NUL behind it; empty when it is gone. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The processor time that a process has used so far, in milliseconds (proc_pid_stat(5)). */
export function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // USER_HZ is 100 on every Linux
}

/** Ends the marked processes: politely, then not. Answers how many had to be killed. */
export async function endMarked(mark: string): Promise<number> {
  signal(mark, "SIGTERM");
  const deadline = performance.now() + 5_000;
  // The system has no event for the end of a process that is not our child.
  while (marked(mark).length > 0 && performance.now() < deadline) await after(50);
  return signal(mark, "SIGKILL");
}

function signal(mark: string, name: NodeJS.Signals): number {
  const pids = marked(mark);
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // gone meanwhile
    }
  }
  return pids.length;
}
