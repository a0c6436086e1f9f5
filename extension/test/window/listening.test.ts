// What a window sends to its subscribers, on real sockets.
import { expect, test } from "vitest";
import { silent } from "../../src/core/log";
import { listLimit, stateLimit } from "../../src/core/protocol/framing";
import type { State } from "../../src/core/protocol/protocol.generated";
import { Store } from "../../src/core/window/store";
import { Client } from "../support/client";
import { serve, session, testCommands } from "../support/window";

test("every change is one event, with no hole, and no change is none", async () => {
  const { store, dial } = await serve();
  const client = await dial();
  const { payload } = await client.ask("listen", { events: ["state"] });
  expect(payload).toMatchObject({ seq: 0, state: { revision: 0 } });
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

test("listening twice does not double the events", async () => {
  const { store, dial } = await serve();
  const client = await dial();
  await client.ask("listen", { events: ["state"] });
  await client.ask("listen", { events: ["state", "state"] });
  store.set(session("a"));
  await client.ask("ping");
  expect(client.lines.filter((line) => line.type === "state")).toHaveLength(1);
});

test("a state that is too large is not taken, and the log shows it; any other can be sent", async () => {
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
  const hello = { client: { name: "large", version: "" } };
  expect(await client.ask("hello", hello)).toMatchObject({ success: true, payload: { seq: 3 } });
});

test("of too many debug sessions or pages the newest are sent, since a client refuses a state with more", async () => {
  const { store, dial } = await serve();
  const numbers = Array.from({ length: listLimit + 1 }, (_, number) => `${number}`);
  store.set({
    debugSessions: numbers.map((id) => ({ id, name: id, type: "pwa-chrome" })),
    pages: numbers.map((id) => ({ debugSession: id, name: id, url: "ws://127.0.0.1:1/x" })),
  });
  const { payload } = await (await dial()).ask("state");
  const { debugSessions, pages } = (payload as { state: State }).state;
  expect([debugSessions.length, debugSessions[0]?.id]).toEqual([listLimit, "1"]);
  expect([pages.length, pages[0]?.debugSession]).toEqual([listLimit, "1"]);
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

test("two hundred clients receive each of twenty changes, in order", async () => {
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

test("the window knows who listens", async () => {
  const { server, dial } = await serve();
  const client = await dial();
  expect(server.clients).toEqual([]);
  await client.ask("hello", { client: { name: "coordinator", version: "0.1.0" } });
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
