// The directory that a window's socket goes to: DIR, or a short one where that is too long for sockets.
// Obeys specs/window-protocol/README.md section 2.

import { lstat, mkdir, mkdtemp, readFile, rename, rmdir, writeFile } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import * as l10n from "@vscode/l10n";
import { momentary } from "../files/file";
import { locked } from "../files/lock";
import { directory, folder, isTooLong, type Surroundings } from "./address";

/** The file in DIR that names the short directory. No other user can make it or foresee what it names. */
export const shortName = ".short";
const longestName = 107;

export interface Place {
  /** Where the sockets are. */
  dir: string;
  /** DIR, which names dir by a file where it is too long. */
  data: string;
}

/** The directory for sockets, made and checked. */
export async function usableDirectory(around: Surroundings): Promise<Place> {
  const data = directory(around);
  await prepare(data, around.uid);
  return { dir: isTooLong(data, around.platform) ? await chooseShort(data, around) : data, data };
}

/** Whether clients that search data look in dir. */
export async function isFound({ dir, data }: Place, around: Surroundings): Promise<boolean> {
  return dir === data || (await shortOf(data, around)) === dir;
}

/** Who is nobody's friend: a container shows every user that it does not know under this number. */
const nobody = 65_534;

/** Makes dir, and refuses one that others may enter. */
async function prepare(dir: string, uid: number): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await check(dir, uid);
}

async function check(dir: string, uid: number): Promise<void> {
  const stat = await lstat(dir);
  if (!stat.isDirectory()) throw new Error(l10n.t("{0} is not a directory; move it away", dir));
  if (stat.uid !== uid || uid === nobody) {
    throw new Error(
      l10n.t("{0} belongs to user {1}, not to you; set XDG_DATA_HOME to a folder of yours", dir, stat.uid),
    );
  }
  if ((stat.mode & 0o077) !== 0) throw new Error(l10n.t("other users may enter {0}; run: chmod 700 '{1}'", dir, dir));
}

/** The short directory in place of data; undefined where none is named or it is not the user's own. */
async function shortOf(data: string, { uid, platform }: Surroundings): Promise<string | undefined> {
  try {
    await check(data, uid);
    const path = join(data, shortName);
    const stat = await lstat(path);
    if (!stat.isFile() || stat.uid !== uid || (stat.mode & 0o077) !== 0 || stat.size > longestName) return undefined;
    const text = await readFile(path, "utf8");
    const short = text.slice(0, -1);
    if (!text.endsWith("\n") || !isAbsolute(short) || normalize(short) !== short || isTooLong(short, platform)) {
      return undefined;
    }
    await check(short, uid);
    return short;
  } catch {
    return undefined; // it is missing, or not the user's own
  }
}

/** The lock of data keeps two windows that start at once, in whichever language, from choosing two. */
async function chooseShort(data: string, around: Surroundings): Promise<string> {
  const named = await shortOf(data, around);
  if (named !== undefined) return named;
  return locked(data, async () => {
    const meanwhile = await shortOf(data, around);
    if (meanwhile !== undefined) return meanwhile;
    const short = await makeShort(around);
    const temporary = momentary(data, "bind");
    await writeFile(temporary, `${short}\n`, { mode: 0o600, flag: "wx" });
    await rename(temporary, join(data, shortName));
    return short;
  });
}

/** Below the first parent that only the user may enter; else random, in the one that all users share. */
async function makeShort({ env, uid, platform }: Surroundings): Promise<string> {
  for (const parent of [env.XDG_RUNTIME_DIR ?? "", env.TMPDIR ?? ""]) {
    const short = join(parent, folder);
    if (!isAbsolute(parent) || isTooLong(short, platform)) continue;
    try {
      await check(parent.length > 1 ? parent.replace(/\/+$/, "") : parent, uid);
      await prepare(short, uid);
      return short;
    } catch {
      // the next one
    }
  }
  const short = await mkdtemp("/tmp/bc-");
  try {
    await check(short, uid);
  } catch (error) {
    await rmdir(short).catch(() => {});
    throw error;
  }
  return short;
}
