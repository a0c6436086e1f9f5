// Which of several coordinators is started.
import { delimiter, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { findProgram, type Surroundings } from "../src/core/program";

const home = resolve("/home/ada");
const extension = resolve("/extensions/browser-coordinator");
const bundled = join(extension, "bin", "coordinator");
const [first, second] = [resolve("/first"), resolve("/second")];
const set = resolve("/tools/coordinator");

/** What is found where these programs are. */
function found(there: string[], surroundings: Partial<Surroundings> = {}): Promise<string | undefined> {
  const path = [first, second].join(delimiter);
  const all: Surroundings = { platform: "linux", setting: "", home: () => home, extension, path, ...surroundings };
  return findProgram(all, async (each) => there.includes(each));
}

const onPath = [join(first, "coordinator"), join(second, "coordinator")];

test("the setting's goes before the bundled one, and that before those of PATH in their order", async () => {
  expect(await found([...onPath, bundled, set], { setting: ` ${set} ` })).toBe(set);
  expect(await found([...onPath, bundled, set])).toBe(bundled);
  expect(await found([...onPath, set])).toBe(onPath[0]);
  expect(await found([onPath[1] as string])).toBe(onPath[1]);
  expect(await found([])).toBeUndefined();
});

test("a setting that names no program finds none, whatever else there is", async () => {
  expect(await found([...onPath, bundled], { setting: set })).toBeUndefined();
});

test("a setting of blanks is none", async () => {
  expect(await found([bundled], { setting: "  " })).toBe(bundled);
});

test("~ in the setting is the home directory, whatever stands in its name", async () => {
  expect(await found([`${home}/bin/coordinator`], { setting: "~/bin/coordinator" })).toBe(`${home}/bin/coordinator`);
  expect(await found(["/home/$&/coordinator"], { setting: "~/coordinator", home: () => "/home/$&" })).toBe(
    "/home/$&/coordinator",
  );
  expect(await found(["~ada/coordinator"], { setting: "~ada/coordinator" })).toBe("~ada/coordinator");
});

test("on Windows the program has the system's ending", async () => {
  const program = join(extension, "bin", "coordinator.exe");
  expect(await found([bundled, program], { platform: "win32" })).toBe(program);
});

test("folders of PATH that are not absolute do not count, nor a PATH that is missing", async () => {
  const path = ["", ".", "bin", second].join(delimiter);
  expect(await found(["coordinator", join("bin", "coordinator"), ...onPath], { path })).toBe(onPath[1]);
  expect(await found([bundled], { path: undefined })).toBe(bundled);
  expect(await found(onPath, { path: undefined })).toBeUndefined();
});
