// Where the home directory is, and the error where there is none.
import { homedir } from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import { homeDirectory } from "../../src/core/files/home";

vi.mock("node:os", async (original) => {
  const os = await original<typeof import("node:os")>();
  return { ...os, homedir: vi.fn(os.homedir) };
});

function setHome(home: string): void {
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home); // Windows
  onTestFinished(() => void vi.unstubAllEnvs());
}

test("it is the one of the environment", () => {
  const home = process.cwd();
  setHome(home);
  expect(homeDirectory()).toBe(home);
});

test.each(["", "somewhere", "./home"])("of HOME=%s nothing would be written where it is meant", (home) => {
  setHome(home);
  expect(homeDirectory).toThrow("your home directory is not known: set HOME to its absolute path");
});

test("a user whom the system does not know has none", () => {
  // Played: a process cannot lose its name. This is Node's error then, without HOME.
  const nodeError = Object.assign(new Error("A system error occurred: uv_os_homedir returned ENOENT"), {
    code: "ERR_SYSTEM_ERROR",
  });
  vi.mocked(homedir).mockImplementationOnce(() => {
    throw nodeError;
  });
  expect(homeDirectory).toThrow("your home directory is not known: set HOME to its absolute path");
});
