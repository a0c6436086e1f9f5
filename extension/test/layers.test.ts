import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../src");
const core = join(source, "core");

/** The folders of the core, and those that each may import. All may import the files beside them. */
const layers: Record<string, string[]> = {
  files: [],
  protocol: [],
  setup: [],
  address: ["files"],
  window: ["address", "protocol"],
  browser: ["files", "protocol", "window"],
  access: ["files", "protocol", "window"],
  review: ["files", "protocol", "window"],
  debugger: ["browser", "protocol", "window"],
  liveview: ["browser", "protocol", "window"],
};

test("the core's folders import in one direction, and none of them the editor", () => {
  const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    const folder = dirname(file);
    const allowed = [".", folder, ...(layers[folder] ?? [])];
    const text = readFileSync(join(core, file), "utf8");
    for (const [, module = ""] of text.matchAll(/(?:from|import\() ?"([^"]+)"/g)) {
      expect(module, file).not.toBe("vscode");
      if (!module.startsWith(".")) continue;
      const target = dirname(relative(core, resolve(core, dirname(file), module)));
      expect(allowed, `${file} imports ${module}`).toContain(target);
    }
  }
});

test("notifications, in which the editor makes links, are shown where their text becomes plain", () => {
  const shows = /\b(?:show(?:Information|Warning|Error)Message|ProgressLocation\.Notification)\b/;
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const showing = files.filter((file) => shows.test(readFileSync(join(source, file), "utf8")));
  // The texts of the others are made by core/access, whose tests are in test/access/.
  expect(showing.sort()).toEqual(["vscode/notice.ts", "vscode/notifications.ts", "vscode/question.ts"]);
});
