// Waits for a path to come or go, by the file system's events.
import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

export function untilPresent(path: string, limit = 60_000): Promise<void> {
  return until(path, true, limit);
}

export function untilAbsent(path: string, limit = 60_000): Promise<void> {
  return until(path, false, limit);
}

function until(path: string, present: boolean, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error) => {
      clearTimeout(timer);
      watcher.close();
      if (error) reject(error);
      else resolve();
    };
    const look = () => {
      if (existsSync(path) === present) done();
    };
    const timer = setTimeout(() => done(new Error(`${path} is still ${present ? "missing" : "there"}`)), limit);
    const watcher = watch(dirname(path), (_, name) => {
      if (name === null || name === basename(path)) look();
    });
    look(); // after the watch began, so that nothing is missed
  });
}
