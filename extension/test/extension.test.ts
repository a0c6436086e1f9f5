// The whole extension from its activation to its end, in a played editor (support/editor.ts), with real
// clients on its socket. How it does in a real editor is in e2e/life.test.ts.
import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import { expect, onTestFinished, test, vi } from "vitest";
import { questionText } from "../src/core/access/actions";
import { Permissions } from "../src/core/access/permission";
import { directory, identify, names, surroundings } from "../src/core/address/address";
import { Clients } from "../src/core/window/clients";
import { Store } from "../src/core/window/store";
import { Client } from "./support/client";
import * as editor from "./support/editor";
import { temporaryFolder } from "./support/window";

const client = { id: "c", name: "Agent", version: "1" };
const connected = { ...client, kind: "mcp", since: 1 };

interface Running {
  /** The window's first folder. */
  folder: string;
  dial(): Promise<Client>;
  /** Ends it as the editor does. */
  end(): Promise<void>;
}

async function activated(): Promise<Running> {
  const folder = await temporaryFolder();
  vi.stubEnv("XDG_DATA_HOME", join(folder, "data"));
  vi.stubGlobal("loading", process.cpuUsage()); // as the bundle has it
  editor.workspace.workspaceFolders = [{ uri: editor.Uri.file(folder), name: "shop" }];
  let notify = () => {};
  const opened = new Promise<void>((resolve) => {
    notify = resolve;
  });
  const context = {
    subscriptions: [] as { dispose(): void }[],
    extension: { packageJSON: { version: "1.2.3" } },
    extensionUri: editor.Uri.file(join(folder, "extension")),
    storageUri: editor.Uri.file(join(folder, "storage")),
    globalStorageUri: editor.Uri.file(join(folder, "global")),
    workspaceState: { get: (_: string, none: unknown) => none, update: async () => {} },
    // Terminals get the window when it is open.
    environmentVariableCollection: { replace: () => notify(), append() {}, delete() {}, clear() {} },
  };
  const { activate, deactivate } = await import("../src/extension");
  const clients: Client[] = [];
  const end = async () => {
    const closing = deactivate();
    for (const each of context.subscriptions.splice(0)) each.dispose(); // the editor does not wait for it
    await closing;
  };
  onTestFinished(async () => {
    for (const each of clients) each.close();
    await end();
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    editor.configured.clear();
  });
  activate(context as never);
  await opened;
  const around = surroundings();
  const { key } = await identify(undefined, [folder], process.pid);
  const [name = ""] = names(key, around.platform);
  const address = join(directory(around), name);
  const dial = async () => {
    const each = await Client.dial(address);
    clients.push(each);
    return each;
  };
  return { folder, dial, end };
}

/** How many listen to what is of these classes, from now on. */
function listening(...sources: { prototype: { subscribe(listener: never): () => void } }[]): () => number {
  let count = 0;
  for (const { prototype } of sources) {
    const { subscribe } = prototype;
    const counted = function (this: object, listener: never) {
      const stop = subscribe.call(this, listener);
      count += 1;
      return () => {
        count -= 1;
        stop();
      };
    };
    const spy = vi.spyOn(prototype, "subscribe").mockImplementation(counted);
    onTestFinished(() => spy.mockRestore());
  }
  return () => count;
}

/** The timers, watchers and servers of the extension that still exist, of those made from now on. */
function watchResources(): () => string[] {
  const there = new Map<number, string>();
  const hook = createHook({
    init(id, type) {
      if (/^(Timeout|FSEVENTWRAP|PIPESERVERWRAP)$/.test(type) && isOurs()) there.set(id, type);
    },
    destroy: (id) => void there.delete(id),
  });
  hook.enable();
  onTestFinished(() => void hook.disable());
  return () => [...there.values()];
}

/** Whether the extension's own code is being run. */
function isOurs(): boolean {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites; // the test runner's own makes more of them
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  return sites.some((site) => site.getFileName()?.includes("/extension/src/"));
}

test("all that it has opened is closed, also while clients wait", async () => {
  const resources = watchResources();
  const listeners = listening(Store, Clients, Permissions);
  editor.configured.set("browserCoordinator.access", "ask");
  const { dial, end } = await activated();
  expect(listeners()).toBeGreaterThan(10);
  await editor.commands.executeCommand("browserCoordinator.openLiveView");

  const [asking, deaf] = [await dial(), await dial()];
  await asking.ask("call", { command: "client.announce", arg: { clients: [connected] } });
  const act = { client: "c", time: 1, act: "click", target: "Buy", outcome: "done", ok: true };
  await asking.ask("call", { command: "client.report", arg: { entries: [act] } }); // it is shown to be at work
  const send = (command: string, arg: object) =>
    asking.send({ id: command, type: "call", version: 2, payload: { command, arg } });
  send("permission.ask", { client, act: "click", detail: "click Buy" });
  send("pick.start", { client, message: "Which?", seconds: 3_600 });
  await asking.ask("ping");
  expect(editor.notices.size).toBe(2);
  await deaf.ask("listen", { events: ["state"] });
  deaf.socket.pause(); // it never leaves

  expect(new Set(resources())).toEqual(new Set(["Timeout", "FSEVENTWRAP", "PIPESERVERWRAP"]));

  await end();
  expect(editor.open()).toEqual([]);
  expect(editor.notices.size).toBe(0);
  expect(listeners()).toBe(0);
  const gone = [asking, deaf].map(({ socket }) => once(socket, "close"));
  for (const each of [asking, deaf]) each.close();
  await Promise.all(gone);
  await new Promise(setImmediate); // when the last of them are notified
  expect(resources()).toEqual([]);
});

test("clients get to know that the workspace's folders have changed", async () => {
  const { dial, folder } = await activated();
  const [a, b] = [await temporaryFolder(), await temporaryFolder()];
  const hello = { client: { name: "agent", version: "1" } };
  const show = (...paths: string[]) => {
    editor.workspace.workspaceFolders = paths.map((path) => ({ uri: editor.Uri.file(path), name: path }));
    editor.foldersChanged.fire();
  };
  for (const folders of [[folder, a], [folder, a, b], [folder, b, a], [folder]]) {
    const client = await dial();
    await client.ask("hello", hello);
    show(...folders);
    await client.until(({ type }) => type === "bye"); // a client dials again then
    client.close();
    await expect.poll(async () => (await (await dial()).ask("hello", hello, 2_000)).payload?.folders).toEqual(folders);
  }
});

test("a coordinator that does not return the endpoint is asked once, and again with the view", async () => {
  const program = join(await temporaryFolder(), "coordinator");
  const times = async () => (await readFile(`${program}.log`, "utf8")).length;
  await writeFile(program, '#!/bin/sh\nprintf x >> "$0.log"\nexit 1\n', { mode: 0o700 });
  editor.configured.set("browserCoordinator.coordinatorPath", program);
  const { dial } = await activated();
  const view = editor.views.get("browserCoordinator.agents");
  const endpoint = async () => (await view?.rows())?.find(({ item }) => item.label === "Endpoint")?.item.description;
  await expect.poll(endpoint).toBe("the coordinator did not report it");
  for (const _ of [1, 2, 3]) {
    const each = await dial();
    await each.ask("call", { command: "client.announce", arg: { clients: [connected] } });
    each.close();
  }
  await editor.commands.executeCommand("browserCoordinator.copyEndpoint"); // it asks too, after all that
  expect(await times()).toBe(2);
  view?.see(false);
  view?.see(true);
  await expect.poll(times).toBe(3);
});

test("the contexts of menus, views and welcomes are set", async () => {
  editor.contexts.clear();
  await activated();
  const { commands, menus, views, viewsWelcome, walkthroughs } = editor.manifest.contributes;
  const text = JSON.stringify({
    menus,
    views,
    viewsWelcome,
    walkthroughs,
    on: commands.map((each: { enablement?: string }) => each.enablement),
  });
  const named = text.match(/browserCoordinator\.(has\w+|unreachable|can[A-Z]\w+|asking|takenOver)\b/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect([...editor.contexts.keys()].sort()).toEqual([...new Set(named)].sort());
});

test("a translation reaches the user, also the texts that depend on the window's state", async () => {
  const bundle = {
    "Agents can only view": "Agenten sehen nur zu",
    "No agent is connected": "Kein Agent ist verbunden",
    "{0} wants to act{1}: {2}.": "{0} möchte handeln{1}: {2}.",
    "run a script": "ein Skript ausführen",
  };
  editor.l10n.bundle = bundle as never;
  onTestFinished(() => {
    editor.l10n.bundle = undefined;
    l10n.config({ contents: {} });
  });
  editor.configured.set("browserCoordinator.access", "view");
  await activated();
  const labels = async () =>
    (await editor.views.get("browserCoordinator.agents")?.rows())?.map(({ item }) => item.label) ?? [];
  await expect.poll(labels).toEqual(expect.arrayContaining(["Agenten sehen nur zu", "Kein Agent ist verbunden"]));
  const folder = existsSync(new URL("../l10n", import.meta.url)) ? "./l10n" : undefined;
  expect(editor.manifest.l10n).toBe(folder); // else the editor loads no bundle
  const question = { client, actions: [{ client, act: "Runtime.evaluate", detail: "" }] };
  expect(questionText(question)).toBe("Agent 1 möchte handeln: ein Skript ausführen.");
});
