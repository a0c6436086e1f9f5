// Waits for a path to come or go, by the file system's events.
import { existsSync, readdirSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

export function untilPresent(path: string, limit = 60_000): Promise<void> {
  return until(path, true, limit);
}

export function untilAbsent(path: string, limit = 60_000): Promise<void> {
  return until(path, false, limit);
}

function until(path: string, present: boolean, limit: number): Promise<void> {
  const dir = dirname(path);
  const wanted = () => (existsSync(path) === present ? path : undefined);
  const complaint = `${path} is still ${present ? "missing" : "there"}`;
  return watched(dir, basename(path), wanted, complaint, limit).then(() => {});
}

/** The name of the first file in a folder that fits. */
export function untilFound(folder: string, pattern: RegExp, limit = 60_000): Promise<string> {
  const wanted = () => readdirSync(folder).find((name) => pattern.test(name));
  return watched(folder, undefined, wanted, `nothing in ${folder} is called ${pattern}`, limit);
}

/** What look finds, at once or after a change in a folder, of the given name where there is one. */
function watched<T>(
  folder: string,
  only: string | undefined,
  look: () => T | undefined,
  complaint: string,
  limit: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      watcher.close();
    };
    const lookAgain = () => {
      const found = look();
      if (found === undefined) return;
      end();
      resolve(found);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(complaint));
    }, limit);
    const watcher = watch(folder, (_, name) => {
      if (name === null || only === undefined || name === only) lookAgain();
    });
    lookAgain(); // after the watch began, so that nothing is missed
  });
}
