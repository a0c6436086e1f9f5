// Asks the system who else uses this machine (localusers.ts decides who counts).
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { release, userInfo } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { code } from "../log";
import { othersOnLinux, othersOnMac, othersOnWindows, toLookUp } from "./localusers";

/** How long a program of the system may take. */
const limit = 3_000;
/** How many processes are read before others get their turn. */
const batch = 256;
/** The namespace of all processes has this number on every Linux. */
const allProcesses = "pid:[4026531836]";

/** The other people on this machine, by name. Throws where that cannot be found out. */
export async function otherUsers(): Promise<string[]> {
  const uid = process.getuid?.() ?? -1;
  switch (process.platform) {
    case "linux":
      return onLinux(uid);
    case "darwin":
      return othersOnMac(await output("/bin/ps", ["-axo", "uid=,ruid="]), uid);
    case "win32": {
      const tool = (name: string) => join(process.env.SystemRoot ?? "C:\\Windows", "System32", name);
      return othersOnWindows(
        await output(tool("reg.exe"), ["query", "HKU"]),
        await output(tool("whoami.exe"), ["/user"]),
      );
    }
    default:
      throw new Error(`nothing is known about users on ${process.platform}`);
  }
}

async function onLinux(uid: number): Promise<string[]> {
  if (sharesNetworkUnseen()) throw new Error("processes that are not listed here share this machine's network");
  const sample = {
    own: { uid, name: nameOf() },
    processes: await processUsers(),
    loggedIn: entries("/run/systemd/users").filter(isNumber).map(Number),
  };
  const ids = toLookUp(sample);
  if (ids.length === 0) return [];
  const passwd = await output("getent", ["passwd", ...ids.map(String)], [2]); // 2: not all have an account
  return othersOnLinux({ ...sample, passwd, subuid: text("/etc/subuid") });
}

/**
 * Whether others may reach this loopback whose processes are not listed: this is a container with the network of
 * its host, or a Linux below Windows, which forwards its ports to all who use Windows.
 */
function sharesNetworkUnseen(): boolean {
  if (/microsoft/i.test(release())) return true;
  if (readlinkSync("/proc/self/ns/pid") === allProcesses) return false;
  const net = "/sys/class/net";
  return entries(net).some((name) => existsSync(join(net, name, "device"))); // a container's own has no hardware
}

/**
 * The users of all processes: real, effective, saved, and that of the file system. The owner of /proc/PID is the
 * effective user alone, which is root for a setuid program of any user. Throws where processes are hidden.
 */
async function processUsers(): Promise<Set<number>> {
  const pids = readdirSync("/proc").filter(isNumber);
  if (!pids.includes("1")) throw new Error("the system hides the processes of other users (hidepid)");
  const users = new Set<number>();
  for (const [index, pid] of pids.entries()) {
    if (index % batch === batch - 1) await nextTurn();
    const [, ids = ""] = status(pid).match(/^Uid:\s*(.*)$/m) ?? [];
    for (const uid of ids.split(/\s+/).filter(isNumber)) users.add(Number(uid));
  }
  return users;
}

/** Empty when the process has gone. */
function status(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "latin1");
  } catch (error) {
    if (code(error) === "ENOENT" || code(error) === "ESRCH") return "";
    throw new Error(`the system hides process ${pid}: ${code(error)}`);
  }
}

function nameOf(): string {
  try {
    return userInfo().username;
  } catch {
    return ""; // an id without an account
  }
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

/** What a directory holds; nothing where there is none. */
function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (code(error) === "ENOENT") return [];
    throw error;
  }
}

/** A file's text; empty where there is none. */
function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (code(error) === "ENOENT") return "";
    throw error;
  }
}

/** What a program of the system writes. Throws unless it ends well, or with one of these codes. */
function output(program: string, args: string[], alsoWell: number[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { timeout: limit, windowsHide: true, env: { ...process.env, LC_ALL: "C" } },
      (error, out) => {
        if (!error || alsoWell.includes(Number(error.code))) resolve(out);
        else reject(new Error(`${program} failed: ${error.killed ? `no answer within ${limit} ms` : error.code}`));
      },
    );
  });
}
