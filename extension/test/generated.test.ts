import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the protocol's types are those of its schema", () => {
  const script = fileURLToPath(new URL("../scripts/generate.mjs", import.meta.url));
  expect(() => execFileSync(process.execPath, [script, "--check"], { stdio: "pipe" })).not.toThrow();
});

test("the core does not know the editor", () => {
  const core = fileURLToPath(new URL("../src/core/", import.meta.url));
  const files = readdirSync(core);
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) {
    expect(readFileSync(core + file, "utf8"), file).not.toMatch(/from "(vscode|\.\.\/)/);
  }
});
