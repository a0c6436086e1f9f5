// What the user has allowed in the windows of one workspace. Each window has its own file, named by the process
// of its extension host. The folder is named by the workspace's hash: the editor's own storage of a workspace moves
// when a second window opens the same folder, so a reloaded window would find the choice of another one.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../files/lock";
import { code } from "../log";
import type { AccessMode } from "../protocol/protocol.generated";
import { isMode, modes } from "./access";

/** The mode that was chosen in a window, and whom it has stopped. */
export interface StoredMode {
  mode: AccessMode;
  /** What the setting was when the mode was chosen: a change of it ends the mode. */
  setting: AccessMode;
  stopped: string[];
  /** Another window, which is open, is set to it. */
  open?: boolean;
}

/**
 * What holds for a window that starts. Nobody knows which of them it was before it was reloaded: so it is the
 * strictest, and never more than its own last choice.
 */
export function strictest(all: StoredMode[], setting: AccessMode): StoredMode {
  const ranks = all.filter((each) => each.setting === setting).map(({ mode }) => modes.indexOf(mode));
  const mode = modes[Math.max(...ranks)] ?? setting;
  const stopped = [...new Set(all.flatMap((each) => each.stopped))];
  return { mode, setting, stopped };
}

interface Entry extends StoredMode {
  pid: number;
  /** When the process began, where the system reports it: its pid may be another's by now. */
  born: string;
}

/** The choices in a folder. Everything is done at once: no window is served before its mode is known. */
export class StoredModes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Those of the windows that are open, and of those that were. One that cannot be read counts as `view`. */
  read(setting: AccessMode): StoredMode[] {
    const unreadable: StoredMode = { mode: "view", setting, stopped: [] };
    return namesIn(this.#folder).flatMap((name) => {
      const entry = readEntry(join(this.#folder, name));
      if (entry === "gone") return [];
      return entry ? { ...entry, open: entry.pid !== process.pid && isOpen(entry) } : unreadable;
    });
  }

  /**
   * Keeps this window's, which takes the place of those whose windows are gone. It is `open` until the window ends:
   * then it leaves the others, of which the strictest holds for the next window.
   */
  write(choice: StoredMode): void {
    const { pid } = process;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${pid}.json`);
    const entry: Entry = { pid, born: born(pid), open: true, ...choice };
    writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    if (!entry.open) return;
    for (const other of namesIn(this.#folder).map((name) => join(this.#folder, name))) {
      if (other !== path && !isOpen(readEntry(other))) rmSync(other, { force: true });
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (code(error) === "ENOENT") return [];
    throw error;
  }
}

/** Undefined where the file holds no choice; "gone" where another window has removed it. */
function readEntry(path: string): Entry | "gone" | undefined {
  try {
    const entry = JSON.parse(readFileSync(path, "utf8")) as Entry;
    return isMode(entry.mode) && Array.isArray(entry.stopped) ? entry : undefined;
  } catch (error) {
    return code(error) === "ENOENT" ? "gone" : undefined;
  }
}

function isOpen(entry: Entry | "gone" | undefined): boolean {
  return typeof entry === "object" && entry.open !== false && isRunning(entry.pid) && born(entry.pid) === entry.born;
}

/** Linux's start time of a process; empty elsewhere. */
function born(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")")).split(" ")[20] ?? "";
  } catch {
    return "";
  }
}
