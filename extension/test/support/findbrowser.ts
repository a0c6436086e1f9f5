// The browser that tests launch.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge",
  "brave-browser",
];

export function findBrowser(): string {
  const given = process.env.BROWSER_COORDINATOR_BROWSER;
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
  if (found) return found;
  throw new Error("no Chrome, Chromium, Edge or Brave on PATH: install one, or set BROWSER_COORDINATOR_BROWSER");
}
