// What the manifest promises, and what it must never ask for.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isBrowserType } from "../src/core/injection";

const manifest = JSON.parse(readFileSync(fileURLToPath(new URL("../package.json", import.meta.url)), "utf8"));

test("it asks for no proposed API: a published extension would not get it", () => {
  expect(manifest).not.toHaveProperty("enabledApiProposals");
});

test("it runs where the workspace is, and asks for nothing at run time", () => {
  expect(manifest.extensionKind).toEqual(["workspace"]);
  expect(manifest).not.toHaveProperty("dependencies");
  expect(manifest).not.toHaveProperty("extensionDependencies");
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe("limited");
  expect(manifest.capabilities.virtualWorkspaces.supported).toBe(false);
});

test("it is awake before a browser debug session is resolved", () => {
  const types = manifest.activationEvents
    .filter((event: string) => event.startsWith("onDebugResolve:"))
    .map((event: string) => event.slice("onDebugResolve:".length));
  expect(manifest.activationEvents).toContain("onStartupFinished");
  expect(types).toHaveLength(6);
  expect(types.every(isBrowserType)).toBe(true);
});

test("it is compiled against the oldest editor that it admits", () => {
  expect(`^${manifest.devDependencies["@types/vscode"]}`).toBe(manifest.engines.vscode);
});

describe("what a person reads", () => {
  test.each(manifest.contributes.commands as { command: string; category: string; title: string }[])(
    "$command",
    ({ command, category, title }) => {
      expect(command).toMatch(/^browserCoordinator\./);
      expect(category).toBe("Browser Coordinator");
      expect(title).toMatch(/^[A-Z]/);
    },
  );

  const settings = Object.entries(manifest.contributes.configuration.properties) as [string, Record<string, unknown>][];
  test.each(settings)("%s", (name, setting) => {
    expect(name).toMatch(/^browserCoordinator\./);
    expect(setting).toHaveProperty("default");
    expect(setting.markdownDescription).toMatch(/\.$/);
  });
});
