// Whether a debug browser gets a port, and how the view describes it.
import { describe, expect, test } from "vitest";
import { decidePort, decisionOf, describePort, portSetting, withDecision } from "../../src/core/browser/debuggingport";
import { isOn, type SettingValues } from "../../src/core/settings";

const nobody = async () => [];
const unasked = async () => {
  throw new Error("asked");
};

describe("a setting that shares something", () => {
  test.each<[string, SettingValues, boolean]>([
    ["is on by default", { defaultValue: true }, true],
    ["is the user's", { defaultValue: true, globalValue: false }, false],
    ["may be turned off in a workspace", { defaultValue: true, workspaceValue: false }, false],
    ["may be turned off in a folder", { globalValue: true, workspaceFolderValue: false }, false],
    ["is never turned on by a workspace", { globalValue: false, workspaceValue: true }, false],
    ["is never turned on by a folder", { globalValue: false, workspaceFolderValue: true }, false],
    ["is off where its value is unknown", { globalValue: "yes" }, false],
  ])("%s", (_, values, on) => {
    expect(isOn(values)).toBe(on);
  });
});

describe("the setting", () => {
  test.each<[string, SettingValues, string]>([
    ["is auto by default", { defaultValue: "auto" }, "auto"],
    ["is the user's", { defaultValue: "auto", globalValue: "always" }, "always"],
    ["was a boolean: true", { defaultValue: "auto", globalValue: true }, "always"],
    ["was a boolean: false", { defaultValue: "auto", globalValue: false }, "never"],
    ["may be stricter in a workspace", { globalValue: "always", workspaceValue: "auto" }, "auto"],
    ["may be stricter in a folder", { globalValue: "auto", workspaceFolderValue: false }, "never"],
    ["is never weaker in a workspace", { defaultValue: "auto", workspaceValue: "always" }, "auto"],
    ["is never weaker in a folder", { globalValue: "never", workspaceFolderValue: true }, "never"],
    [
      "is never weaker in a folder than in its workspace",
      { workspaceValue: "never", workspaceFolderValue: "auto" },
      "never",
    ],
    ["is the strictest where it is not known", { defaultValue: "auto", globalValue: "sometimes" }, "never"],
    ["is the default where it is null", { defaultValue: "auto", globalValue: null }, "auto"],
    ["is auto where the editor knows nothing of it", {}, "auto"],
  ])("%s", (_, values, expected) => {
    expect(portSetting(values)).toBe(expected);
  });
});

describe("a port", () => {
  test("is added where nobody else is", async () => {
    expect(await decidePort("auto", nobody)).toEqual({
      added: true,
      why: "no other user has a process on this machine",
    });
  });

  test.each([
    [["bob"], "bob has processes on this machine"],
    [["bob", "carol"], "bob and carol have processes on this machine"],
    [["a", "b", "c", "d", "e"], "a, b, c and 2 more have processes on this machine"],
    [["[x](command:y)"], "[x] (command:y) has processes on this machine"],
  ])("is not where others are: %j", async (others, why) => {
    expect(await decidePort("auto", async () => others)).toEqual({ added: false, why });
  });

  test("is not where that cannot be known", async () => {
    const decision = await decidePort("auto", async () => {
      throw new Error("hidden");
    });
    expect(decision).toEqual({ added: false, why: "it cannot be found out who else uses this machine (hidden)" });
  });

  test("follows the setting, and other users are not searched for", async () => {
    expect(await decidePort("always", unasked)).toMatchObject({
      added: true,
      why: expect.stringContaining('"always"'),
    });
    expect(await decidePort("never", unasked)).toMatchObject({ added: false, why: expect.stringContaining('"never"') });
  });
});

describe("the view", () => {
  const here = { added: false, why: "bob has processes on this machine" };

  test("a decision stays with its configuration, which is not changed", () => {
    const configuration = { type: "pwa-chrome" };
    expect(decisionOf(withDecision(configuration, here))).toEqual(here);
    expect(configuration).toEqual({ type: "pwa-chrome" });
    expect(decisionOf(configuration)).toBeUndefined();
  });

  test.each([{ added: "yes", why: "x" }, { added: true }, "x", null, 1])("what is no decision is none: %j", (mark) => {
    expect(decisionOf({ __browserCoordinatorPort: mark })).toBeUndefined();
  });

  test("shows why there is no port, and what clients use in its place", () => {
    const { short, long } = describePort(undefined, here);
    expect(short).toBe("bob has processes on this machine");
    expect(long).toMatch(
      /: bob has processes.*\nEvery local user.*file:\/\/.*\n.*shared debug session.*\n.*addDebuggingPort/,
    );
  });

  test("shows what a port exposes, no matter who has opened it", () => {
    const added = { added: true, why: "no other user has a process on this machine" };
    expect(describePort("injected", added).long).toMatch(/: no other user.*\nEvery local user/);
    for (const via of ["configured", "attached"]) {
      expect(describePort(via, undefined).long).toMatch(/your launch configuration\.\nEvery local user/);
    }
    expect(describePort(undefined, undefined).long).toMatch(/No port of this browser can be reached/);
  });
});
