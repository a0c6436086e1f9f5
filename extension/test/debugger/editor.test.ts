// The editor's debugger behind debug.start and debug.stop, in a played editor; the real one is in
// e2e/debugger.test.ts.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { EndedSessions } from "../../src/core/browser/endedsessions";
import { startLimit } from "../../src/core/debugger/debugger";
import { Store } from "../../src/core/window/store";
import { openDebugger } from "../../src/vscode/debugger";
import * as editor from "../support/editor";
import { temporaryFolder } from "../support/window";

const client = { id: "c", name: "Agent", version: "1" };
const { debugging } = editor;
let call: (name: string, arg: object) => Promise<unknown>;

beforeEach(() => {
  const store = new Store();
  store.set({ access: { mode: "full", stopped: [] } });
  const context = { workspaceState: { get: (_: string, none: unknown) => none, update: async () => {} } };
  const opened = openDebugger(context as never, store, new EndedSessions());
  const commands = new Map(opened.debugger.commands);
  const never = new AbortController().signal;
  call = async (name, arg) => commands.get(name)?.run(arg, { signal: never, connection: never, peer: undefined });
  debugging.stopped.length = 0;
  onTestFinished(() => opened.disposable.dispose());
});

afterEach(() => {
  debugging.start = async () => true;
  debugging.stop = () => {};
  vi.useRealTimers();
});

test("a session that is stopped before the editor has reported its start is the only one that ends", async () => {
  vi.useFakeTimers();
  const other = { id: "other", name: "Server", type: "node", configuration: { name: "Server" } };
  debugging.started.fire(other);
  let session: editor.DebugSession | undefined;
  debugging.start = (configuration) => {
    session = { id: "slow", name: "slow", type: "chrome", configuration };
    debugging.track(session); // its adapter runs, and the launch takes long
    return new Promise(() => {});
  };
  debugging.stop = (stopped) => stopped && debugging.terminated.fire(stopped);
  const late = expect(call("debug.start", { client, url: "http://127.0.0.1:1/" })).rejects.toThrow("not started");
  await vi.advanceTimersByTimeAsync(startLimit);
  await late;
  await call("debug.stop", { client, session: "slow" });
  expect(debugging.stopped).toEqual([session]);
});

test.each([
  ["the browser that the agent has launched", "chrome", "launch", ["root"]],
  ["the pages of a tab that the user has opened", "editor-browser", "attach", ["page"]],
])("debug.stop ends %s", async (_, type, request, stopped) => {
  debugging.start = async (configuration) => {
    const root = { id: "root", name: "root", type, configuration: { ...configuration, type, request } };
    const page = { ...root, id: "page", name: "page", parentSession: root };
    for (const each of [root, page]) {
      debugging.track(each);
      debugging.started.fire(each);
    }
    return true;
  };
  debugging.stop = (session) => session && debugging.terminated.fire(session);
  await call("debug.start", { client, url: "http://127.0.0.1:1/" });
  await call("debug.stop", { client, session: "root" });
  expect(debugging.stopped.map((each) => each?.id)).toEqual(stopped);
});

test.each([
  ["chrome", "launch", ["root"]],
  ["editor-browser", "attach", []],
])("the user's Stop of the only page of %s, %s, stops %s too", (type, request, stopped) => {
  const configuration = { type, request };
  const root = { id: "root", name: "root", type, configuration };
  const page = { ...root, id: "page", name: "page", parentSession: root };
  debugging.track(root);
  const trackers = debugging.track(page);
  for (const each of trackers) each.onWillReceiveMessage?.({ type: "request", command: "terminate" });
  expect(debugging.stopped.map((each) => each?.id)).toEqual(stopped);
});

test("where the case of names does not count, a breakpoint replaces that of its line", async () => {
  const file = join(await temporaryFolder(), "cart.ts");
  await writeFile(file, "");
  vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  onTestFinished(() => {
    vi.restoreAllMocks();
    editor.debug.breakpoints = [];
  });
  const place = new editor.Location(editor.Uri.file(file.replace("cart.ts", "Cart.ts")), new editor.Position(2, 0));
  editor.debug.breakpoints = [new editor.SourceBreakpoint(place)];
  await call("debug.breakpoints", { action: "set", path: file, line: 3 });
  expect(editor.debug.breakpoints.map(({ location }) => location.uri.fsPath)).toEqual([file]);
});
