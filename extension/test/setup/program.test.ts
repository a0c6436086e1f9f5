// Which of several coordinators is started.
import { delimiter, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { findProgram, lastingCommand, NoCoordinator, type Surroundings } from "../../src/core/setup/program";

const home = resolve("/home/ada");
const extension = resolve("/extensions/browser-coordinator");
const bundled = join(extension, "bin", "coordinator");
const [first, second] = [resolve("/first"), resolve("/second")];
const set = resolve("/tools/coordinator");

/** What is found where these programs are. */
function found(there: string[], surroundings: Partial<Surroundings> = {}): Promise<string> {
  return findProgram(all(surroundings), async (each) => there.includes(each));
}

function all(surroundings: Partial<Surroundings>): Surroundings {
  const path = [first, second].join(delimiter);
  return { platform: "linux", setting: "", home: () => home, extension, path, ...surroundings };
}

const onPath = [join(first, "coordinator"), join(second, "coordinator")];

test("the setting's goes before the bundled one, and that before those of PATH in their order", async () => {
  expect(await found([...onPath, bundled, set], { setting: ` ${set} ` })).toBe(set);
  expect(await found([...onPath, bundled, set])).toBe(bundled);
  expect(await found([...onPath, set])).toBe(onPath[0]);
  expect(await found([onPath[1] as string])).toBe(onPath[1]);
  await expect(found([])).rejects.toThrow(new NoCoordinator("the coordinator is neither in the extension nor on PATH"));
});

test("a setting that names no program finds none, whatever else there is, and is named", async () => {
  await expect(found([...onPath, bundled], { setting: set })).rejects.toThrow(
    `browserCoordinator.coordinatorPath is ${JSON.stringify(set)}, where no program is that can be run`,
  );
});

test.each(["coordinator", "./coordinator", "bin/coordinator", "~ada/coordinator", "~"])(
  "%s in the setting would depend on where the editor was started",
  async (setting) => {
    await expect(found([setting, resolve(setting), ...onPath], { setting })).rejects.toThrow(
      `browserCoordinator.coordinatorPath is "${setting}", which is not an absolute path`,
    );
  },
);

test("a setting of blanks is none", async () => {
  expect(await found([bundled], { setting: "  " })).toBe(bundled);
});

test("~ in the setting is the home directory, whatever stands in its name", async () => {
  expect(await found([`${home}/bin/coordinator`], { setting: "~/bin/coordinator" })).toBe(`${home}/bin/coordinator`);
  expect(await found(["/home/$&/coordinator"], { setting: "~/coordinator", home: () => "/home/$&" })).toBe(
    "/home/$&/coordinator",
  );
});

test("on Windows the program has the system's ending", async () => {
  const program = join(extension, "bin", "coordinator.exe");
  expect(await found([bundled, program], { platform: "win32" })).toBe(program);
});

test("folders of PATH that are not absolute do not count, nor a PATH that is missing", async () => {
  const path = ["", ".", "bin", second].join(delimiter);
  expect(await found(["coordinator", join("bin", "coordinator"), ...onPath], { path })).toBe(onPath[1]);
  expect(await found([bundled], { path: undefined })).toBe(bundled);
  await expect(found(onPath, { path: undefined })).rejects.toThrow(NoCoordinator);
});

describe("the command of an entry outlives this version of the extension", () => {
  const copy = resolve("/storage/bin/coordinator");
  function lasting(there: string[], surroundings: Partial<Surroundings> = {}): Promise<string> {
    const keep = async (program: string) => `${copy} of ${program}`;
    return lastingCommand(all(surroundings), async (each) => there.includes(each), keep);
  }

  test("a program on PATH goes by its name, though the bundled one is what is started here", async () => {
    expect(await lasting([...onPath, bundled])).toBe("coordinator");
    expect(await lasting([onPath[1] as string])).toBe("coordinator");
    const program = join(second, "coordinator.exe");
    expect(await lasting([program], { platform: "win32" })).toBe("coordinator");
  });

  test("the bundled one goes by a copy", async () => {
    expect(await lasting([bundled])).toBe(`${copy} of ${bundled}`);
    expect(await lasting([bundled, ...onPath], { setting: bundled })).toBe(`${copy} of ${bundled}`);
  });

  test("the setting's goes by its path, and by its name only where that finds the same", async () => {
    expect(await lasting([set, bundled, ...onPath], { setting: set })).toBe(set);
    expect(await lasting([bundled, ...onPath], { setting: onPath[0] as string })).toBe("coordinator");
    expect(await lasting([bundled, ...onPath], { setting: onPath[1] as string })).toBe(onPath[1]);
  });

  test("without a program there is none", async () => {
    await expect(lasting([])).rejects.toThrow(NoCoordinator);
    await expect(lasting([bundled], { setting: set })).rejects.toThrow(NoCoordinator);
  });
});
