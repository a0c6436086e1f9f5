// What debug.start, debug.state and so on mean. The editor and the debug adapter are played here; the
// real ones are in e2e/debugger.test.ts.
import { expect, onTestFinished, test, vi } from "vitest";
import type { Configuration } from "../../src/core/browser/injection";
import type { SessionInfo } from "../../src/core/browser/sessions";
import { type DebugEditor, Debugger, startLimit } from "../../src/core/debugger/debugger";
import { type Launch, type Start, startMark } from "../../src/core/debugger/launches";
import { Threads } from "../../src/core/debugger/threads";
import type { Breakpoint, DebugStateResult } from "../../src/core/protocol/protocol.generated";
import type { Caller } from "../../src/core/window/connection";

const shop: Configuration = {
  type: "chrome",
  request: "launch",
  name: "Shop",
  file: "index.html",
  runtimeArgs: ["-x"],
};
const server: Configuration = { type: "node", request: "launch", name: "Server" };
const both: Configuration = { name: "Both", configurations: ["Server", { name: "Shop", folder: "shop" }] };

function play(launches: Launch[] = [{ folder: "/shop", configurations: [shop, server], compounds: [both] }]) {
  const threads = new Threads();
  const starts: Start[] = [];
  const asked: string[] = [];
  const kept: Breakpoint[] = [];
  let ids = 0;
  const begin = (configuration: Configuration, parent?: SessionInfo) => {
    const id = `s${++ids}`;
    const info = { id, name: String(configuration.name), type: `pwa-${configuration.type}`, configuration, parent };
    threads.started(info, true);
    return info;
  };
  /** A page with a thread, as js-debug has it below its session. */
  const page = (parent: SessionInfo) => {
    const info = begin({ ...parent.configuration, name: "page" }, parent);
    threads.fromAdapter(info.id, { type: "event", event: "thread", body: { reason: "started", threadId: 0 } });
    return info;
  };
  const pause = ({ id }: SessionInfo) =>
    threads.fromAdapter(id, { type: "event", event: "stopped", body: { reason: "breakpoint", threadId: 0 } });
  const access: { mode: DebugEditor["mode"] } = { mode: "full" };
  const editor: DebugEditor = {
    get mode() {
      return access.mode;
    },
    launches: () => launches,
    firstFolder: "/shop",
    start: async (start) => {
      starts.push(start);
      const { what } = start;
      const begun = typeof what === "string" ? [server, shop] : [what];
      for (const each of begun) {
        const info = begin(each);
        if (info.type === "pwa-chrome") page(info);
      }
      return true;
    },
    stop: async (id) => threads.ended(id),
    folder: async (path) => path,
    toFile: (source) => (source.startsWith("/") ? source : undefined),
    ask: async (session, command, args) => {
      asked.push(`${session} ${command}`);
      if (command === "stackTrace") {
        const source = { name: "a.js", path: "/shop/a.js" };
        return { stackFrames: [{ id: 4, name: "f", source, line: 2, column: 3 }].slice(0, Number(args.levels)) };
      }
      if (command === "scopes") return { scopes: [{ name: "Local", variablesReference: 9, expensive: false }] };
      if (command === "variables") {
        return { variables: Array.from({ length: 60 }, (_, i) => ({ name: `v${i}`, value: "\u001b[33m1\u001b[0m" })) };
      }
      if (command === "evaluate") return { result: `${args.expression} in ${args.frameId}`, type: "string" };
      if (command === "next") pause({ id: session } as SessionInfo);
      return {};
    },
    file: async (path) => path,
    breakpoints: () => kept,
    setBreakpoint: (breakpoint, by) => {
      asked.push(`breakpoint of ${by}`);
      kept.push({ enabled: true, ...breakpoint });
      return 1;
    },
    removeBreakpoints: (path, line) => {
      const before = kept.length;
      kept.splice(
        0,
        before,
        ...kept.filter((each) => each.path !== path || (line !== undefined && each.line !== line)),
      );
      return before - kept.length;
    },
    reveal: async () => {},
  };
  const commands = new Map(new Debugger(threads, editor).commands);
  const connection = new AbortController().signal;
  const caller: Caller = { signal: new AbortController().signal, connection, peer: undefined };
  const call = async (name: string, arg?: unknown, by = caller) =>
    (await commands.get(name)?.run(arg, by)) as Record<string, unknown>;
  return { access, editor, threads, starts, asked, begin, page, pause, call, caller };
}

const client = { id: "c1", name: "Agent", version: "1" };

test("the only browser launch configuration is meant, and is marked", async () => {
  const { call, starts } = play();
  expect(await call("debug.start")).toEqual({ session: "s1", name: "Shop" });
  expect(starts[0]).toMatchObject({ folder: "/shop", what: { name: "Shop", [startMark]: expect.any(String) } });
});

test("where there is no only one, the error lists what there is", async () => {
  const none = play([]);
  await expect(none.call("debug.start")).rejects.toMatchObject({
    code: "bad_payload",
    message: expect.stringContaining('give a "url"'),
  });
  const folders = ["/a", "/b"].map((folder) => ({ folder, configurations: [shop], compounds: [] }));
  const two = play(folders);
  await expect(two.call("debug.start")).rejects.toMatchObject({
    data: {
      configurations: [
        { name: "Shop", folder: "/a" },
        { name: "Shop", folder: "/b" },
      ],
    },
  });
  await expect(two.call("debug.start", { configuration: "Shop" })).rejects.toThrow('name one in "folder": "/a"');
  await expect(two.call("debug.start", { folder: "/c" })).rejects.toThrow("no folder of this window");
  expect(await two.call("debug.start", { folder: "/b" })).toMatchObject({ name: "Shop" });
  expect(two.starts[0]?.folder).toBe("/b");
});

test("a URL takes over the only browser configuration, or stands alone", async () => {
  const { call, starts } = play();
  await call("debug.start", { url: "http://127.0.0.1:1/" });
  expect(starts[0]?.what).toMatchObject({ name: "Shop", url: "http://127.0.0.1:1/", runtimeArgs: ["-x"] });
  expect(starts[0]?.what).not.toHaveProperty("file");
  const bare = play([]);
  await bare.call("debug.start", { url: "http://127.0.0.1:1/" });
  expect(bare.starts[0]?.what).toMatchObject({ type: "chrome", request: "launch", webRoot: "/shop" });
  await expect(bare.call("debug.start", { url: "javascript:alert(1)" })).rejects.toMatchObject({
    data: { path: "/payload/arg/url" },
  });
});

test("a compound is started by its name; all of its sessions are the client's", async () => {
  const { call, starts } = play();
  expect(await call("debug.start", { client, configuration: "Both" })).toMatchObject({ name: "Server" });
  expect(starts[0]?.what).toBe("Both");
  await call("debug.stop", { client, session: "s1" });
  await call("debug.stop", { client, session: "s3" }); // the page of the shop's session: all of that
  expect(await call("debug.state")).toEqual({ sessions: [] });
});

test("what runs already is not started twice", async () => {
  const { call, begin } = play();
  begin(shop);
  await expect(call("debug.start", { configuration: "Both" })).rejects.toMatchObject({ data: { session: "s1" } });
});

test("a start that waits for the user is given up with what to do, and is not made twice meanwhile", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { call, editor } = play();
  const start = editor.start;
  let answered = (_: boolean) => {};
  editor.start = () => new Promise((resolve) => (answered = resolve));
  const given = expect(call("debug.start", { client })).rejects.toMatchObject({
    code: "deadline",
    message: expect.stringMatching(/"Shop".*Ask the user to look there/),
  });
  await vi.advanceTimersByTimeAsync(startLimit);
  await given;
  editor.start = start;
  await expect(call("debug.start", { client })).rejects.toThrow('"Shop" is being started already');
  answered(false); // the user has refused
  await vi.advanceTimersByTimeAsync(0);
  expect(await call("debug.start", { client })).toMatchObject({ name: "Shop" });
});

test("a browser that does not start is reported while the editor shows its error in a dialog", async () => {
  const { call, editor, begin, threads } = play();
  const { start } = editor;
  editor.start = ({ what }) => {
    threads.ended(begin(what as Configuration).id);
    return new Promise(() => {});
  };
  await expect(call("debug.start")).rejects.toThrow("Shop ended at once: the window shows why");
  editor.start = start;
  expect(await call("debug.start")).toMatchObject({ name: "Shop" }); // though the dialog is still open
});

test("a program that the adapter refuses is reported too; one that ends by itself has been started", async () => {
  const { call, editor, begin, threads } = play();
  const { start } = editor;
  editor.start = ({ what }) => {
    const { id } = begin(what as Configuration);
    threads.fromAdapter(id, { type: "response", command: "launch", success: false });
    threads.ended(id);
    return new Promise(() => {});
  };
  await expect(call("debug.start", { configuration: "Server" })).rejects.toThrow("Server ended at once");
  editor.start = async (what) => {
    const answer = await start(what);
    threads.ended(threads.all.at(-1)?.info.id ?? "");
    await new Promise(setImmediate); // the editor answers later
    return answer;
  };
  expect(await call("debug.start", { configuration: "Server" })).toMatchObject({ name: "Server" });
});

test("only who started a session stops it", async () => {
  const { call, begin, caller } = play();
  const { session } = await call("debug.start", { client });
  await expect(call("debug.stop", { session })).rejects.toMatchObject({ code: "refused" });
  await expect(call("debug.stop", { session, client: { ...client, id: "c2" } })).rejects.toMatchObject({
    code: "refused",
  });
  await call("debug.stop", { session, client }, { ...caller, connection: new AbortController().signal });
  const own = await call("debug.start", {});
  const another = { ...caller, connection: new AbortController().signal };
  await expect(call("debug.stop", { session: own.session }, another)).rejects.toMatchObject({ code: "refused" });
  await call("debug.stop", { session: own.session });
  const user = begin(shop);
  await expect(call("debug.stop", { session: user.id, client })).rejects.toMatchObject({ code: "refused" });
  await expect(call("debug.stop", { session: "gone" })).rejects.toMatchObject({
    code: "bad_payload",
    data: { sessions: [{ id: user.id, name: "Shop", state: "running" }] },
  });
});

test("a paused session is reported with its stack and the variables within their limits", async () => {
  const { call, begin, page, pause } = play();
  const root = begin(shop);
  const child = page(root);
  pause(child);
  const { sessions } = (await call("debug.state", { session: root.id })) as unknown as DebugStateResult;
  expect(sessions.map(({ state }) => state)).toEqual(["running", "paused"]);
  expect(sessions[1]).toMatchObject({
    configuration: "Shop",
    frames: [{ id: 4, name: "f", path: "/shop/a.js", line: 2, column: 3 }],
    scopes: [{ name: "Local", variables: expect.any(Array) }],
  });
  const variables = sessions[1]?.scopes?.[0]?.variables;
  expect(variables?.[0]).toEqual({ name: "v0", value: "1" });
  expect(variables?.at(-1)).toEqual({ name: "…", value: "10 more" });
});

test("without a session the paused one is used; of two the client must choose", async () => {
  const { call, begin, page, pause } = play();
  await expect(call("debug.evaluate", { expression: "1" })).rejects.toThrow("start one by debug.start");
  const a = page(begin(shop));
  const b = page(begin({ ...shop, name: "Other" }));
  await expect(call("debug.step", { action: "over" })).rejects.toThrow("no debug session is paused");
  await expect(call("debug.evaluate", { expression: "1" })).rejects.toThrow("more than one debug session runs");
  expect(await call("debug.evaluate", { expression: "1", session: b.id })).toMatchObject({ result: "1 in undefined" });
  pause(a);
  expect(await call("debug.evaluate", { expression: "1" })).toEqual({ result: "1 in 4", type: "string" });
  expect(await call("debug.step", { action: "over" })).toMatchObject({ session: a.id, state: "paused", thread: 0 });
  pause(b);
  await expect(call("debug.step", { action: "over" })).rejects.toMatchObject({
    code: "bad_payload",
    data: { sessions: [{ id: a.id }, { id: b.id }] },
  });
  expect(await call("debug.step", { action: "over", session: b.parent?.id })).toMatchObject({
    session: b.id,
  });
});

test("a worker below a page is not meant where the page can be", async () => {
  const { call, begin, page, asked } = play();
  const first = page(begin(shop));
  page(first);
  await call("debug.evaluate", { expression: "1" });
  expect(asked).toEqual([`${first.id} evaluate`]);
});

test("the editor gets to know which client sets a breakpoint, where one is named", async () => {
  const { call, asked } = play();
  await call("debug.breakpoints", { action: "set", path: "/a", line: 2, client });
  await call("debug.breakpoints", { action: "set", path: "/a", line: 3 });
  expect(asked).toEqual(["breakpoint of Agent", "breakpoint of undefined"]);
});

test("breakpoints are set, listed and removed; what is not there is an error", async () => {
  const { call } = play();
  expect(
    await call("debug.breakpoints", { action: "set", path: "/a", line: 2, condition: "x", logMessage: "" }),
  ).toEqual({
    breakpoints: [{ path: "/a", line: 2, enabled: true, condition: "x" }],
  });
  await expect(call("debug.breakpoints", { action: "set", path: "/a" })).rejects.toMatchObject({
    data: { path: "/payload/arg/line" },
  });
  await expect(call("debug.breakpoints", { action: "remove" })).rejects.toMatchObject({
    data: { path: "/payload/arg/path" },
  });
  await expect(call("debug.breakpoints", { action: "remove", path: "/a", line: 9 })).rejects.toThrow("no breakpoint");
  expect(await call("debug.breakpoints", { action: "remove", path: "/a" })).toEqual({ breakpoints: [] });
});

test("where the user lets agents only look, they look", async () => {
  const { call, access, begin, page } = play();
  page(begin(shop));
  access.mode = "view";
  const mutating: [string, object][] = [
    ["debug.start", { client }],
    ["debug.step", { action: "pause" }],
    ["debug.evaluate", { expression: "1" }],
    ["debug.breakpoints", { action: "set", path: "/a", line: 1 }],
  ];
  for (const [name, arg] of mutating) await expect(call(name, arg)).rejects.toMatchObject({ code: "refused" });
  expect(await call("debug.breakpoints", { action: "list" })).toEqual({ breakpoints: [] });
  expect((await call("debug.state")).sessions).toHaveLength(2);
});
