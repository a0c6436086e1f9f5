// Many clients, slow clients and broken ones, on real sockets.
import { expect, test } from "vitest";
import { formatLine, lineLimit, TooLarge } from "../../src/core/protocol/framing";
import { linger, waitingLimit } from "../../src/core/window/connection";
import { connectionLimit } from "../../src/core/window/server";
import { Client } from "../support/client";
import { content, serve, session, testCommands } from "../support/window";

test("hello reports who serves the window", async () => {
  const { server, dial } = await serve();
  const client = await dial();
  const { payload } = await client.ask("hello", { client: { name: "t", version: "1" } });
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
    state: { revision: 0, ...content, access: { mode: "view", stopped: [] } }, // until the user's choice is read
  });
});

test("one byte at a time, and ten thousand requests in one write", async () => {
  const { dial } = await serve();
  const client = await dial();
  client.socket.setNoDelay(true);
  for (const byte of Buffer.from('{"id":"slow","type":"ping","version":2}\r\n')) client.socket.write(Buffer.of(byte));
  await client.until((line) => line.id === "slow");
  const many = Array.from({ length: 10_000 }, (_, id) => `{"id":${id},"type":"ping","version":2}\n`).join("");
  client.socket.write(many);
  await client.until((line) => line.id === 9_999);
  expect(client.lines.filter((line) => line.success === true)).toHaveLength(10_001);
});

test("a client that ends its side after the request still gets its answer", async () => {
  const { dial } = await serve();
  const client = await dial();
  client.socket.end('{"id":1,"type":"call","version":2,"payload":{"command":"echo","arg":[1,{"a":null}]}}\n');
  expect((await client.until((line) => line.id === 1)).payload).toEqual({ result: [1, { a: null }] });
  await client.end();
});

test("half a line and then silence: everybody else is served, and its end is still good", async () => {
  const { dial } = await serve();
  const silent = await dial();
  silent.socket.write('{"id":1,"type":"pi');
  expect((await (await dial()).ask("ping")).success).toBe(true);
  expect(silent.lines).toEqual([]);
  silent.socket.write('ng","version":2}\n');
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

test("a line is at most as long as the limit, with its end", () => {
  const around = formatLine({ text: "" }).length;
  expect(formatLine({ text: `ü${"x".repeat(lineLimit - around - 2)}` })).toMatch(/\n$/);
  expect(() => formatLine({ text: `ü${"x".repeat(lineLimit - around - 1)}` })).toThrow(TooLarge);
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

test("one connection too many gets the reason, and the others stay", async () => {
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

test("closing notifies every client", async () => {
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
  expect(linger).toBeLessThan(4_000); // deactivate has 5 s
  await server.close();
});
