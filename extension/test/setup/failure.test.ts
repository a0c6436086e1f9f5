// Why a host's file could not be changed, in the window's words.
import { expect, test } from "vitest";
import { failure } from "../../src/core/setup/failure";

test.each([
  ["coordinator: /shop/.mcp.json is left as it is: it has changed meanwhile\n", "it has changed meanwhile"],
  ['coordinator: unknown command "setup"\nRun `coordinator help` for usage.\n', 'unknown command "setup"'],
])("%s", (stderr, expected) => {
  expect(failure(Object.assign(new Error("Command failed"), { stderr }))).toBe(expected);
});

test("without its words there are those of the system", () => {
  expect(failure(Object.assign(new Error("spawn ENOENT"), { stderr: "" }))).toBe("spawn ENOENT");
});
