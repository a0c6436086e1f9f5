// Where a window listens. Obeys specs/window-protocol/README.md section 2.

import { isAbsolute, join } from "node:path";
import * as l10n from "@vscode/l10n";
import { canonical, hashOf } from "./identity";

export const folder = "browser-coordinator-mcp";
const longestName = 27;

export interface Surroundings {
  platform: NodeJS.Platform;
  env: Record<string, string | undefined>;
  uid: number;
}

/** This process's. The system need not know the user: many a container runs under a uid without a name. */
export function surroundings(): Surroundings {
  return { platform: process.platform, env: process.env, uid: process.getuid?.() ?? -1 };
}

/** Who a window is: a workspace or, without one, its process. */
export interface Identity {
  workspace: string | null;
  folders: string[];
  /** The hash, or `pid-PID`: a part of the address's name. */
  key: string;
}

/** DIR, however long it is. */
export function directory(around: Surroundings): string {
  return join(dataHome(around.env), folder);
}

/** Whether a socket in dir would have too long a path. Node would cut it short without an error. */
export function isTooLong(dir: string, platform: NodeJS.Platform): boolean {
  return Buffer.byteLength(dir) + 1 + longestName > (platform === "darwin" ? 103 : 107);
}

function dataHome({ XDG_DATA_HOME: data = "", HOME: home = "" }: Surroundings["env"]): string {
  if (isAbsolute(data)) return data;
  if (isAbsolute(home)) return join(home, ".local", "share");
  throw new Error(l10n.t("neither XDG_DATA_HOME nor HOME is an absolute path; set one of them"));
}

/** The names to try, in order: plain, then -2 to -9. */
export function names(key: string, platform: NodeJS.Platform): string[] {
  const suffixes = ["", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"];
  if (platform === "win32") return suffixes.map((suffix) => `\\\\.\\pipe\\${folder}-${key}${suffix}`);
  return suffixes.map((suffix) => `ipc-${key}${suffix}.sock`);
}

/** Whether a name in DIR is a window's. */
export function isName(name: string): boolean {
  return /^ipc-(?:[0-9a-f]{16}|pid-[0-9]+)(?:-[2-9])?\.sock$/.test(name);
}

/** A place as the editor names it: a `vscode.Uri`. */
export interface Place {
  scheme: string;
  fsPath: string;
}

/** The part of an open workspace that is on this machine's disk, and so can identify the window. */
export function onDisk(
  workspaceFile: Place | undefined,
  folders: readonly Place[],
): { file?: string; folders: string[] } {
  const paths = folders.filter(({ scheme }) => scheme === "file").map(({ fsPath }) => fsPath);
  // An untitled workspace has a file too, which the editor keeps among its own.
  const isLocal = workspaceFile !== undefined && ["file", "untitled"].includes(workspaceFile.scheme);
  return isLocal ? { file: workspaceFile.fsPath, folders: paths } : { folders: paths };
}

/**
 * The identity of a window with this `.code-workspace` file and these folders, in the editor's
 * spelling. What does not exist is left out, so a window with only such folders has no workspace.
 */
export async function identify(workspaceFile: string | undefined, folders: string[], pid: number): Promise<Identity> {
  const paths = (await Promise.all(folders.map(existing))).filter((path) => path !== null);
  const file = workspaceFile === undefined ? null : await existing(workspaceFile);
  const workspace = file ?? paths[0] ?? null;
  return { workspace, folders: paths, key: workspace === null ? `pid-${pid}` : await hashOf(workspace) };
}

async function existing(path: string): Promise<string | null> {
  try {
    return await canonical(path);
  } catch {
    return null;
  }
}
