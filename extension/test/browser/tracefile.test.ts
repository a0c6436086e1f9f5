// The debugger's trace is for its own user alone.
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepTracePrivate } from "../../src/core/browser/tracefile";
import { temporaryFolder } from "../support/window";

const mode = async (file: string) => (await stat(file)).mode & 0o777;

test("a file that js-debug would make exists before, also in a new folder", async () => {
  const logFile = join(await temporaryFolder(), "logs", "trace.json");
  await keepTracePrivate({ trace: { stdio: true, logFile } });
  expect(await mode(logFile)).toBe(0o600);
});

test("an existing file keeps its contents", async () => {
  const logFile = join(await temporaryFolder(), "trace.json");
  await writeFile(logFile, "earlier");
  await chmod(logFile, 0o644);
  await keepTracePrivate({ trace: { logFile } });
  expect(await mode(logFile)).toBe(0o600);
  expect(await readFile(logFile, "utf8")).toBe("earlier");
});

test.each([undefined, null, true, false, {}, { logFile: null }, { logFile: "relative.json" }])(
  "nothing is made for trace: %j",
  async (trace) => expect(await keepTracePrivate({ trace })).toBeUndefined(),
);
