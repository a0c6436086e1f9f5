// Whether the editor has the coordinator from a file already.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasEntry } from "../../src/core/setup/entered";

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "entered-"));
});
afterAll(() => rm(dir, { recursive: true }));

test.each([
  ['{"servers": {"browser-coordinator": {"command": "coordinator"}}}', true],
  ['\ufeff{ // mine\n"servers": {"browser-coordinator": {},},}', true],
  ['{"servers": {"other": {}}}', false],
  ['{"mcpServers": {"browser-coordinator": {}}}', false],
  ['{"servers": {"browser-coordinator": null}}', false],
  ['{"servers": null}', false],
  ["null", false],
  ["", false],
  ["servers", false],
])("%s", async (text, has) => {
  const file = join(dir, "mcp.json");
  await writeFile(file, text);
  expect(await hasEntry(file, "servers")).toBe(has);
});

test("a file that is not there has none", async () => {
  expect(await hasEntry(join(dir, "none.json"), "servers")).toBe(false);
});
