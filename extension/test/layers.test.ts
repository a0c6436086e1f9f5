import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const core = join(import.meta.dirname, "../src/core");

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
