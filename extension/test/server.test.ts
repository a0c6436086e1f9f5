// Many clients, slow clients and broken ones, on real sockets.
import { expect, test } from "vitest";
import { type Caller, callLimit, waitingLimit } from "../src/core/connection";
import { formatLine, lineLimit, stateLimit, TooLarge } from "../src/core/framing";
import { silent } from "../src/core/log";
import { Refusal } from "../src/core/request";
import { connectionLimit } from "../src/core/server";
import { replayLimit, Store } from "../src/core/store";
import { Client } from "./support/client";
import { serve, testCommands } from "./support/window";

const content = { debugSessions: [], browser: null, pages: [] };
const session = (name: string) => ({ ...content, debugSessions: [{ id: name, name, type: "pwa-chrome" }] });

test("hello tells who is there", async () => {
  const { server, dial } = await serve();
  const client = await dial();
  const { payload } = await client.ask("hello", { client: { name: "t", version: "1" }, versions: [9, 2, 1] });
  expect(payload).toEqual({
    version: 2,
    server: { name: "test", version: "1.2.3", kind: "vscode" },
    session: server.session,
    pid: process.pid,
    workspace: "/home/dev/shop",
    folders: ["/home/dev/shop"],
    commands: ["echo", "wait"],
    events: ["state"],
    seq: 0,
    state: { revision: 0, ...content, access: { mode: "full", stopped: [] } },
  });
});

test("every change is one event, with no hole, and no change is none", async () => {
  const { store, dial } = await serve();
  const client = await dial();
  const { payload } = await client.ask("listen", { events: ["state"] });
  expect(payload).toMatchObject({ seq: 0, resumed: false, state: { revision: 0 } });
  store.set(session("a"));
  store.set(session("a"));
  store.set(session("b"));
  await client.until((line) => line.seq === 2);
  const events = client.lines.filter((line) => line.type === "state");
  expect(events).toMatchObject([
    { seq: 1, payload: { revision: 1, debugSessions: [{ id: "a" }] } },
    { seq: 2, payload: { revision: 2, debugSessions: [{ id: "b" }] } },
  ]);
});

test("unlisten ends the events", async () => {
  const { store, dial } = await serve();
  const client = await dial();
  await client.ask("listen", { events: ["state"] });
  await client.ask("unlisten", { events: ["state"] });
  store.set(session("a"));
  expect((await client.ask("state")).payload).toMatchObject({ seq: 1 });
  expect(client.lines.some((line) => line.type === "state")).toBe(false);
});

test("listening twice does not double the events", async () => {
  const { store, dial } = await serve();
  const client = await dial();
  await client.ask("listen", { events: ["state"] });
  await client.ask("listen", { events: ["state", "state"] });
  store.set(session("a"));
  await client.ask("ping");
  expect(client.lines.filter((line) => line.type === "state")).toHaveLength(1);
});

test("who returns gets just what was missed", async () => {
  const { server, store, dial } = await serve();
  store.set(session("a"));
  store.set(session("b"));
  store.set(session("c"));
  const client = await dial();
  const { payload } = await client.ask("listen", { events: ["state"], resume: { session: server.session, seq: 1 } });
  expect(payload).toEqual({ session: server.session, seq: 3, resumed: true });
  await client.until((line) => line.seq === 3);
  expect(client.lines.filter((line) => line.type === "state").map((line) => line.seq)).toEqual([2, 3]);
});

test.each([
  ["another session", (own: string) => ({ session: `not ${own}`, seq: 300 })],
  ["what is gone", (own: string) => ({ session: own, seq: 300 - replayLimit - 1 })],
  ["what has not been", (own: string) => ({ session: own, seq: 301 })],
])("who resumes from %s gets the state", async (_, resume) => {
  const { server, store, dial } = await serve();
  for (let i = 0; i < 300; i++) store.set(session(`${i}`));
  const client = await dial();
  const { payload } = await client.ask("listen", { events: ["state"], resume: resume(server.session) });
  expect(payload).toMatchObject({ seq: 300, resumed: false, state: { revision: 300 } });
  const all = await client.ask("listen", {
    events: ["state"],
    resume: { session: server.session, seq: 300 - replayLimit },
  });
  expect(all.payload).toMatchObject({ resumed: true });
  await client.until((line) => line.seq === 300);
  expect(client.lines.filter((line) => line.type === "state")).toHaveLength(replayLimit);
});

test("one byte at a time, and ten thousand requests in one write", async () => {
  const { dial } = await serve();
  const client = await dial();
  client.socket.setNoDelay(true);
  for (const byte of Buffer.from('{"id":"slow","type":"ping","version":1}\r\n')) client.socket.write(Buffer.of(byte));
  await client.until((line) => line.id === "slow");
  const many = Array.from({ length: 10_000 }, (_, id) => `{"id":${id},"type":"ping","version":1}\n`).join("");
  client.socket.write(many);
  await client.until((line) => line.id === 9_999);
  expect(client.lines.filter((line) => line.success === true)).toHaveLength(10_001);
});

test("a client that ends its side after the request still gets its answer", async () => {
  const { dial } = await serve();
  const client = await dial();
  client.socket.end('{"id":1,"type":"call","version":1,"payload":{"command":"echo","arg":[1,{"a":null}]}}\n');
  expect((await client.until((line) => line.id === 1)).payload).toEqual({ result: [1, { a: null }] });
  await client.end();
});

test("half a line and then silence: everybody else is served, and its end is still good", async () => {
  const { dial } = await serve();
  const silent = await dial();
  silent.socket.write('{"id":1,"type":"pi');
  expect((await (await dial()).ask("ping")).success).toBe(true);
  expect(silent.lines).toEqual([]);
  silent.socket.write('ng","version":1}\n');
  expect((await silent.until((line) => line.id === 1)).success).toBe(true);
});

test("half a line and then the end: no answer, and the window goes on", async () => {
  const { dial } = await serve();
  const client = await dial();
  client.socket.end('{"id":1,"type":"pi');
  await client.end();
  expect(client.lines).toEqual([]);
  expect((await (await dial()).ask("ping")).success).toBe(true);
});

test("a call that throws, and one that answers what JSON cannot hold, answer internal", async () => {
  const commands = new Map([
    ["throw", { run: async () => Promise.reject(new Error("no such luck")) }],
    [
      "circle",
      {
        run: async () => {
          const a: unknown[] = [];
          a.push(a);
          return a;
        },
      },
    ],
  ]);
  const { dial } = await serve(commands);
  const client = await dial();
  for (const command of commands.keys()) {
    expect(await client.ask("call", { command })).toMatchObject({ success: false, error: { code: "internal" } });
  }
  expect((await client.ask("ping")).success).toBe(true);
});

test("an answer or an error over the line's limit is told as internal, and the connection goes on", async () => {
  const long = "x".repeat(lineLimit);
  const { dial } = await serve(
    new Map([
      ...testCommands,
      ["huge", { run: async () => long }],
      ["fail", { run: async () => Promise.reject(new Refusal("refused", long)) }],
    ]),
  );
  const client = await dial();
  expect(await client.ask("call", { command: "huge" })).toMatchObject({ error: { code: "internal" } });
  expect(await client.ask("call", { command: "fail" })).toMatchObject({ error: { code: "refused" } });
  // Three times as long when it is written as JSON has it.
  const numbers = Array(1_500_000).fill("1e20").join(",");
  client.socket.write(`{"id":"n","type":"call","version":2,"payload":{"command":"echo","arg":[${numbers}]}}\n`);
  expect(await client.until((line) => line.id === "n")).toMatchObject({ error: { code: "internal" } });
  expect((await client.ask("ping")).success).toBe(true);
});

test("a line is at most as long as the limit, with its end", () => {
  const around = formatLine({ text: "" }).length;
  expect(formatLine({ text: `ü${"x".repeat(lineLimit - around - 2)}` })).toMatch(/\n$/);
  expect(() => formatLine({ text: `ü${"x".repeat(lineLimit - around - 1)}` })).toThrow(TooLarge);
});

test("a state that is too large is not taken, and the log says so; any other can be told", async () => {
  const errors: string[] = [];
  const store = new Store({ ...silent, error: (message) => errors.push(message) });
  const { dial } = await serve(testCommands, undefined, { store });
  store.set(session("a"));
  const client = await dial();
  await client.ask("listen", { events: ["state"] });
  store.set(session("x".repeat(stateLimit)));
  expect(errors).toEqual([expect.stringContaining(`over the limit of ${stateLimit}`)]);
  expect((await client.ask("state")).payload).toMatchObject({ seq: 1, state: { debugSessions: [{ name: "a" }] } });
  store.set(session("b"));
  expect(await client.until((line) => line.type === "state")).toMatchObject({ seq: 2, payload: { revision: 2 } });
  store.set(session("x".repeat(stateLimit / 2 - 500))); // the name stands there twice
  expect(errors).toHaveLength(1);
  const hello = { client: { name: "large", version: "" }, versions: [2] };
  expect(await client.ask("hello", hello)).toMatchObject({ success: true, payload: { seq: 3 } });
});

test("a call that does not wait for a human has its deadline", { timeout: 15_000 }, async () => {
  let aborted = false;
  const run = (_: unknown, { signal }: Caller) =>
    new Promise(() =>
      signal.addEventListener("abort", () => {
        aborted = true;
      }),
    );
  const { dial } = await serve(new Map([["hang", { run }]]));
  const client = await dial();
  const started = performance.now();
  expect(await client.ask("call", { command: "hang" })).toMatchObject({ error: { code: "deadline" } });
  expect(performance.now() - started).toBeGreaterThan(callLimit - 50);
  expect(aborted).toBe(true);
});

test("cancel reaches the command, and frees the id", async () => {
  let told = (_: unknown) => {};
  const aborted = new Promise<unknown>((resolve) => {
    told = resolve;
  });
  const run = (_: unknown, { signal }: Caller) => {
    signal.addEventListener("abort", () => told(signal.reason));
    return new Promise(() => {});
  };
  const { dial } = await serve(new Map([["ask", { waitsForHuman: true, run }]]));
  const client = await dial();
  client.send({ id: "a", type: "call", version: 1, payload: { command: "ask" } });
  expect((await client.ask("cancel", { id: "a" })).payload).toEqual({ cancelled: true });
  expect(await client.until((line) => line.id === "a")).toMatchObject({ error: { code: "cancelled" } });
  expect(await aborted).toMatchObject({ code: "cancelled" });
  expect((await client.ask("cancel", { id: "a" })).payload).toEqual({ cancelled: false });
});

test("answers race cancels: each id is answered once, and is free then", async () => {
  const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms));
  const race = (arg: unknown, { signal }: Caller) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      void later(4).then(() => resolve(arg));
    });
  const deaf = async (arg: unknown) => {
    await later(4);
    return arg;
  };
  const { dial } = await serve(
    new Map([
      ["race", { waitsForHuman: true, run: race }],
      ["deaf", { run: deaf }],
    ]),
  );
  const client = await dial();
  const calls = 120;
  const outcomes = { answered: 0, cancelled: 0 };
  for (let round = 0; round < 40; round++) {
    client.lines.length = 0;
    for (let i = 0; i < calls; i++) {
      const command = i % 2 === 0 ? "race" : "deaf";
      client.send({ id: `call ${i}`, type: "call", version: 2, payload: { command, arg: i } });
    }
    await later(4); // when the cancels go out is the race
    for (let i = 0; i < calls; i++) {
      client.send({ id: `cancel ${i}`, type: "cancel", version: 2, payload: { id: `call ${i}` } });
    }
    await client.until(() => client.lines.length >= 2 * calls);
    await client.ask("ping"); // nothing comes behind
    const answers = new Map(client.lines.map((line) => [line.id, line]));
    expect([client.lines.length, answers.size]).toEqual([2 * calls + 1, 2 * calls + 1]);
    for (let i = 0; i < calls; i++) {
      const call = answers.get(`call ${i}`);
      const cancel = answers.get(`cancel ${i}`);
      const cancelled = (call?.error as { code: string } | undefined)?.code === "cancelled";
      if (!cancelled) expect(call).toEqual({ id: `call ${i}`, success: true, payload: { result: i } });
      expect(cancel?.payload).toEqual({ cancelled });
      outcomes[cancelled ? "cancelled" : "answered"]++;
    }
  }
  expect(outcomes.answered).toBeGreaterThan(0);
  expect(outcomes.cancelled).toBeGreaterThan(0);
});

test("a client that goes while it waits is no fault of the window's", async () => {
  const errors: string[] = [];
  const { address, server } = await serve(testCommands, undefined, {
    log: { ...silent, error: (message) => errors.push(message) },
  });
  const client = await Client.dial(address);
  client.send({ id: 1, type: "call", version: 2, payload: { command: "wait" } });
  await client.ask("ping");
  const gone = new Promise<void>((resolve) => server.onClients(resolve));
  client.close();
  await gone;
  expect(errors).toEqual([]);
});

test("what clients listened to ends with them", async () => {
  let subscriptions = 0;
  const store = new Store();
  const subscribe = store.subscribe.bind(store);
  store.subscribe = (listener) => {
    const end = subscribe(listener);
    subscriptions++;
    return () => {
      end();
      subscriptions--;
    };
  };
  const { address, server } = await serve(testCommands, undefined, { store });
  const leave: ((client: Client) => void)[] = [
    (client) => client.close(),
    (client) => client.socket.end(),
    (client) => client.socket.end('{"id":9,'),
    (client) => client.socket.pause().destroy(),
  ];
  const clients: Client[] = [];
  for (let i = 0; i < 60; i++) clients.push(await Client.dial(address));
  for (const client of clients) for (let i = 0; i < 3; i++) await client.ask("listen", { events: ["state"] });
  expect(subscriptions).toBe(60);
  const gone = new Promise<void>((resolve) => {
    let left = clients.length;
    server.onClients(() => --left === 0 && resolve());
  });
  for (const [i, client] of clients.entries()) leave[i % leave.length]?.(client);
  await gone;
  expect(subscriptions).toBe(0);
  expect(server.clients).toEqual([]);
  for (const client of clients) client.close();
});

test("a client that is gone gives up its calls, after a second", async () => {
  let told = () => {};
  const aborted = new Promise<void>((resolve) => {
    told = resolve;
  });
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const run = (_: unknown, { signal }: Caller) => {
    signal.addEventListener("abort", told);
    begun();
    return new Promise(() => {});
  };
  const { dial } = await serve(new Map([["ask", { waitsForHuman: true, run }]]));
  const client = await dial();
  client.send({ id: 1, type: "call", version: 1, payload: { command: "ask" } });
  await running;
  client.close();
  await aborted;
});

test("large states are replayed only as far as they are kept", async () => {
  const { server, store, dial } = await serve();
  for (let i = 1; i <= 6; i++) store.set(session(`${i}${"x".repeat(500_000)}`)); // a megabyte each
  const client = await dial();
  const listen = async (seq: number) =>
    (await client.ask("listen", { events: ["state"], resume: { session: server.session, seq } })).payload?.resumed;
  expect(await listen(1)).toBe(false);
  expect(await listen(5)).toBe(true);
});

test("a reader that never reads is cut off with a reason, and slows nobody", async () => {
  const { store, dial } = await serve();
  const stuck = await dial();
  await stuck.ask("listen", { events: ["state"] });
  stuck.socket.pause();
  const good = await dial();
  await good.ask("listen", { events: ["state"] });
  const big = "x".repeat(1024 * 1024);
  const rounds = waitingLimit / big.length + 4;
  for (let i = 1; i <= rounds; i++) {
    store.set(session(`${i}${big}`));
    await good.until((line) => line.seq === i);
    good.lines.length = 0;
  }
  stuck.socket.resume();
  expect(await stuck.until((line) => line.type === "bye")).toMatchObject({ payload: { reason: "slow_reader" } });
  await stuck.end();
  expect((await good.ask("ping")).success).toBe(true);
});

test("two hundred clients are told of each of twenty changes, in order", async () => {
  const { store, dial } = await serve();
  const clients: Client[] = [];
  for (let i = 0; i < 200; i++) clients.push(await dial());
  await Promise.all(clients.map((client) => client.ask("listen", { events: ["state"] })));
  for (let i = 1; i <= 20; i++) store.set(session(`${i}`));
  const due = Array.from({ length: 20 }, (_, i) => ({ seq: i + 1, payload: { debugSessions: [{ id: `${i + 1}` }] } }));
  for (const client of clients) {
    await client.until((line) => line.seq === 20);
    expect(client.lines.filter((line) => line.type === "state")).toMatchObject(due);
  }
});

test("one connection too many is told so, and the others stay", async () => {
  const { server, address, dial } = await serve();
  const clients: Client[] = [];
  for (let i = 0; i < connectionLimit; i++) clients.push(await dial());
  const last = clients.at(-1) as Client;
  expect((await last.ask("ping")).success).toBe(true);
  const extra = await Client.dial(address);
  expect(await extra.until((line) => line.type === "bye")).toMatchObject({
    payload: { reason: "too_many_connections" },
  });
  // Who is refused does not count, also while it stays for its last line.
  const left = new Promise<void>((resolve) => server.onClients(resolve));
  clients[0]?.close();
  await left;
  expect((await (await dial()).ask("ping")).success).toBe(true);
  await extra.end();
  extra.close();
  expect((await last.ask("ping")).success).toBe(true);
});

test("closing says goodbye to everybody", async () => {
  const { server, dial } = await serve(testCommands);
  const clients = await Promise.all([dial(), dial()]);
  for (const client of clients) await client.ask("listen", { events: ["state"] });
  const closed = server.close();
  for (const client of clients) {
    expect(await client.until((line) => line.type === "bye")).toMatchObject({ payload: { reason: "shutdown" } });
    await client.end();
    client.close();
  }
  await closed;
});

test("closing does not wait for a client that never leaves", async () => {
  const { server, dial } = await serve();
  const client = await dial();
  client.socket.pause();
  const started = performance.now();
  await server.close();
  expect(performance.now() - started).toBeLessThan(4_000); // deactivate has 5 s
});

test("the window knows who listens", async () => {
  const { server, dial } = await serve();
  const client = await dial();
  expect(server.clients).toEqual([]);
  await client.ask("hello", { client: { name: "coordinator", version: "0.1.0" }, versions: [1] });
  await client.ask("listen", { events: ["state"] });
  expect(server.clients).toEqual([{ name: "coordinator", version: "0.1.0" }]);
  const gone = new Promise<void>((resolve) => server.onClients(() => server.clients.length === 0 && resolve()));
  client.close();
  await gone;
});

test("a state that a client holds does not change under it", async () => {
  const { store, dial } = await serve();
  const mine = session("a");
  store.set(mine);
  (mine.debugSessions[0] as { name: string }).name = "changed";
  expect((await (await dial()).ask("state")).payload).toMatchObject({ state: { debugSessions: [{ name: "a" }] } });
});
