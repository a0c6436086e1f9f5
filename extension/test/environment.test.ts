// What the terminals of the window get, in a played editor.
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { shareEnvironment } from "../src/vscode/environment";
import * as editor from "./support/editor";
import { temporaryFolder } from "./support/window";

const variable = "BROWSER_COORDINATOR_WORKSPACE";

afterEach(() => {
  editor.configured.clear();
  editor.workspaceConfigured.clear();
  vi.unstubAllEnvs();
});

interface Shared {
  environment: Map<string, string>;
  /** The window is open, or a setting has changed. */
  change(): void;
}

async function share(): Promise<Shared> {
  const environment = new Map<string, string>();
  const set = (name: string, value: string) => environment.set(name, value);
  const context = {
    extensionUri: editor.Uri.file(join(await temporaryFolder(), "extension")),
    environmentVariableCollection: {
      replace: set,
      append: set,
      delete: (name: string) => environment.delete(name),
      clear: () => environment.clear(),
    },
  };
  const changed = new editor.EventEmitter<void>();
  const window = { serving: { kind: "open", workspace: "/shop" }, onDidChange: changed.event };
  const shared = shareEnvironment(context as never, window as never);
  onTestFinished(() => {
    shared.dispose();
    changed.dispose();
  });
  return { environment, change: () => changed.fire() };
}

test("only terminals get the window: the editor's own environment is that of every other extension too", async () => {
  vi.stubEnv(variable, "/another"); // of the terminal in which the editor was started
  const { environment, change } = await share();
  change();
  expect(environment.get(variable)).toBe("/shop");
  expect(process.env[variable]).toBeUndefined();
});

test("what the user has turned off a repository does not turn on", async () => {
  const { environment, change } = await share();
  editor.configured.set("browserCoordinator.setEnvironment", false);
  editor.workspaceConfigured.set("browserCoordinator.setEnvironment", true);
  change();
  expect([...environment]).toEqual([]);
});

test("PATH has the folder of the program that the setting names now", async () => {
  vi.stubEnv(variable, undefined);
  vi.stubEnv("PATH", "");
  const folders = [await temporaryFolder(), await temporaryFolder()];
  for (const folder of folders) await writeFile(join(folder, "coordinator"), "", { mode: 0o700 });
  const choose = (folder: string) =>
    editor.configure("browserCoordinator.coordinatorPath", join(folder, "coordinator"));
  const { environment, change } = await share();
  change();
  expect(environment.get(variable)).toBe("/shop");
  for (const folder of folders) {
    choose(folder);
    await vi.waitFor(() => expect(environment.get("PATH")).toBe(delimiter + folder));
  }
  choose(join(folders[0] ?? "", "absent"));
  await vi.waitFor(() => expect(environment.has("PATH")).toBe(false));
  expect(environment.get(variable)).toBe("/shop");
});
