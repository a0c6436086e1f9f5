// Who is connected and what they did, reported over a real socket.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resume, stop, stopAll, stoppable } from "../../src/core/access/access";
import { Permissions, permissionCommands } from "../../src/core/access/permission";
import { Recordings } from "../../src/core/access/record";
import type { Activity, ConnectedClient } from "../../src/core/protocol/protocol.generated";
import { readActions, writeActions } from "../../src/core/window/activityfile";
import { actionsLimit, Clients, clientCommands, picturesLimit } from "../../src/core/window/clients";
import { Store } from "../../src/core/window/store";
import { until } from "../support/until";
import { commandVectors } from "../support/vectors";
import { serve } from "../support/window";

const client = (id: string, since = 1): ConnectedClient => ({
  id,
  name: `Agent ${id}`,
  version: "1",
  kind: "mcp",
  since,
});
const act = (client: string, time: number): Activity => ({
  client,
  time,
  act: "browser_click",
  target: "",
  outcome: "clicked",
  ok: true,
});
const call = (command: string, arg: unknown) => ["call", { command, arg }] as const;

async function window() {
  const clients = new Clients();
  return { clients, ...(await serve(new Map(clientCommands(clients)))) };
}

describe("announce", () => {
  test("replaces what the connection reported before, and nothing of another's", async () => {
    const { clients, dial } = await window();
    const [one, other] = [await dial(), await dial()];
    await one.ask(...call("client.announce", { clients: [client("a", 2), client("b", 1)] }));
    await other.ask(...call("client.announce", { clients: [client("c", 3)] }));
    expect(clients.connected.map(({ id }) => id)).toEqual(["c", "a", "b"]);
    await one.ask(...call("client.announce", { clients: [{ ...client("a", 2), page: "T1" }] }));
    expect(clients.lookUp("a")?.page).toBe("T1");
    expect(clients.connected.map(({ id }) => id)).toEqual(["c", "a"]);
  });

  test("lists running calls that nothing tells apart once", async () => {
    const { clients, dial } = await window();
    const running = [1, 1, 2].map((time) => ({ time, act: "browser_click", target: "" }));
    await (await dial()).ask(...call("client.announce", { clients: [{ ...client("a"), running }] }));
    expect(clients.running.map(({ time }) => time)).toEqual([1, 2]);
  });

  test("ends with the connection, not with the call", async () => {
    const { clients, dial } = await window();
    const one = await dial();
    expect((await one.ask(...call("client.announce", { clients: [client("a")] }))).payload).toEqual({
      result: { pictures: true },
    });
    await one.ask("ping");
    expect(clients.lookUp("a")).toMatchObject({ name: "Agent a" });
    const left = until(clients, () => clients.connected.length === 0);
    one.close();
    await left;
  });

  test.each([
    [{}, "/payload/arg/clients"],
    [{ clients: [{ ...client("a"), kind: "human" }] }, "/payload/arg/clients/0/kind"],
    [{ clients: [client("a"), { ...client("b"), since: 1.5 }] }, "/payload/arg/clients/1/since"],
    [{ clients: Array(300).fill(client("a")) }, "/payload/arg/clients"],
    [[], "/payload/arg"],
  ])("of %.60j is refused at its fault", async (arg, path) => {
    const { clients, dial } = await window();
    const answer = await (await dial()).ask(...call("client.announce", arg));
    expect(answer).toMatchObject({ success: false, error: { code: "bad_payload", data: { path } } });
    expect(clients.connected).toEqual([]);
  });
});

test("a stopped client that comes back as another process is still stopped, and the view shows that", () => {
  const clients = new Clients();
  const store = new Store();
  const [first, again] = [new AbortController(), new AbortController()];
  clients.announce(first.signal, [{ ...client("a"), name: "Claude Code" }]);
  stop(store, { name: "Claude Code" });
  first.abort();
  clients.announce(again.signal, [
    { ...client("b", 2), name: "Claude Code", version: "3" },
    { ...client("c", 1), name: "Codex" },
  ]);
  const listed = () => stoppable(store, clients).map((each) => [each.client.id, each.stopped, each.connected]);
  expect(listed()).toEqual([
    ["b", true, true],
    ["c", false, true],
  ]);
  expect(store.state.access.stopped).toEqual(["Claude Code"]); // as coordinators see it
  resume(store, { name: "Claude Code" });
  expect(listed()).toEqual([
    ["b", false, true],
    ["c", false, true],
  ]);
});

test("a stop is never forgotten because there are many", () => {
  const clients = new Clients();
  const store = new Store();
  stop(store, { name: "Claude Code" });
  const many = Array.from({ length: 256 }, (_, n) => ({ ...client(`${n}`), name: `Agent ${n}` }));
  clients.announce(new AbortController().signal, many);
  stopAll(store, clients);
  expect(store.state.access.stopped).toContain("Claude Code");
  expect(store.state.access.stopped).toHaveLength(257);
});

test("a stopped client can be resumed after it has left", () => {
  const clients = new Clients();
  const store = new Store();
  const connection = new AbortController();
  clients.announce(connection.signal, [client("a"), client("b", 2)]);
  stop(store, client("a"));
  const listed = () => stoppable(store, clients).map((each) => [each.client.name, each.stopped, each.connected]);
  expect(listed()).toEqual([
    ["Agent b", false, true],
    ["Agent a", true, true],
  ]);
  connection.abort();
  expect(listed()).toEqual([["Agent a", true, false]]);
  resume(store, client("a"));
  expect(listed()).toEqual([]);
});

describe("report", () => {
  test("keeps the newest, with the name that the client had", async () => {
    const { clients, dial } = await window();
    const one = await dial();
    await one.ask(...call("client.announce", { clients: [client("a")] }));
    await one.ask(...call("client.report", { entries: [act("a", 1), act("x", 2)] }));
    await one.ask(...call("client.announce", { clients: [] }));
    await one.ask(...call("client.report", { entries: [act("a", 3)] }));
    expect(clients.actions.map(({ number, name }) => [number, name])).toEqual([
      [1, "Agent a"],
      [2, "a client that has left"],
      [3, "Agent a"],
    ]);
    const many = Array.from({ length: 900 }, (_, n) => ({ ...act("a", n), target: `button ${n}` }));
    await one.ask(...call("client.report", { entries: many }));
    expect(clients.actions).toHaveLength(actionsLimit);
    expect(clients.actions.at(-1)).toMatchObject({ number: 903, time: 899 });
    clients.clear();
    expect(clients.actions).toEqual([]);
  });
});

describe("what is for the window's user alone", () => {
  const picture = "/9j/4AAQSkZJRg==";
  const details = { duration: 5, reason: "human", script: "() => 1", picture };
  const running = [{ time: 2, act: "browser_evaluate", target: "", script: "() => 2" }];

  test("is in no list of others", async () => {
    const { clients, dial } = await window();
    const one = await dial();
    await one.ask(...call("client.announce", { clients: [{ ...client("a"), running }] }));
    await one.ask(...call("client.report", { entries: [{ ...act("a", 1), details }] }));
    expect(clients.running).toEqual([{ ...running[0], client: "a", name: "Agent a" }]);
    expect(clients.actions[0]?.details).toEqual(details);
    const listed = (await one.ask(...call("client.list", {}))).payload?.result;
    const known = { time: 2, act: "browser_evaluate", target: "" };
    expect(listed).toEqual({ clients: [{ ...client("a"), running: [known] }], last: [act("a", 1)] });
    const ended = until(clients, () => clients.running.length === 0);
    one.close(); // with the call that it ran
    await ended;
  });

  test("is bounded, and a picture is nothing else", async () => {
    const { clients, dial } = await window();
    const one = await dial();
    const effects = Array(90).fill({ kind: "error", text: "x".repeat(9_000), place: "y".repeat(9_000) });
    const report = (more: object) =>
      one.ask(...call("client.report", { entries: [{ ...act("a", 1), details: more }] }));
    await report({ duration: 1, script: "s".repeat(99_000), effects });
    const [kept] = clients.actions;
    expect(kept?.details?.script).toHaveLength(16_000);
    expect(kept?.details?.effects).toHaveLength(50);
    expect(JSON.stringify(kept).length).toBeLessThan(120_000);
    for (const text of ["iVBORw0KGgo=", "/9j/) [x](command:a)", `/9j/${"A".repeat(32_000)}`]) {
      await report({ duration: 1, picture: text, effects: [{ kind: "error", text }] });
      expect(clients.actions.at(-1)?.details, text.slice(0, 20)).not.toHaveProperty("picture");
    }
    const many = Array.from({ length: 150 }, (_, n) => ({ ...act("a", n), target: `${n}`, details }));
    await one.ask(...call("client.report", { entries: many }));
    const pictured = clients.actions.filter((each) => each.details?.picture);
    expect(pictured.map(({ target }) => target)).toEqual(many.slice(-picturesLimit).map(({ target }) => target));
    expect(clients.actions.at(-picturesLimit - 1)?.details).toEqual({
      duration: 5,
      reason: "human",
      script: "() => 1",
    });
  });

  test("of repeats is that of the last; what something followed is no repeat", () => {
    const clients = new Clients();
    const effects = [{ kind: "request", text: "GET /stock → 500" }];
    const report = (more: object) => clients.report([{ ...act("a", 1), details: { duration: 1, ...more } }]);
    for (const more of [{}, { duration: 2 }, { effects }, { effects }, { script: "1" }, { script: "2" }]) report(more);
    expect(clients.actions.map(({ times, details }) => [times, details?.duration, details?.script])).toEqual([
      [2, 2, undefined],
      [1, 1, undefined],
      [1, 1, undefined],
      [1, 1, "1"],
      [1, 1, "2"],
    ]);
  });
});

test("list has who is connected, with the last action of each", async () => {
  const { clients, dial } = await window();
  const [one, other] = [await dial(), await dial()];
  const listed = async () => (await one.ask(...call("client.list", {}))).payload?.result;
  expect(await listed()).toEqual({ clients: [], last: [] });
  await one.ask(...call("client.announce", { clients: [client("a", 2), client("b", 1)] }));
  await other.ask(...call("client.announce", { clients: [{ ...client("c", 3), page: "T1" }] }));
  await one.ask(
    ...call("client.report", { entries: [act("a", 1), act("c", 2), act("a", 3), act("a", 4), act("x", 5)] }),
  );
  expect(await listed()).toEqual({
    clients: [{ ...client("c", 3), page: "T1" }, client("a", 2), client("b", 1)],
    last: [act("c", 2), { ...act("a", 4), times: 2 }],
  });
  const left = until(clients, () => clients.connected.length === 2);
  other.close();
  await left;
  expect(await listed()).toEqual({ clients: [client("a", 2), client("b", 1)], last: [{ ...act("a", 4), times: 2 }] });
});

test("a CDP client's commands displace no action of an agent", () => {
  const clients = new Clients();
  clients.remember([client("a"), { ...client("p"), kind: "cdp" }]);
  clients.report([act("a", 1), act("a", 2)]);
  const commands = Array.from({ length: 900 }, (_, n) => ({ ...act("p", n), act: "DOM.focus", target: `${n}` }));
  clients.report([...commands, { ...act("p", 900), act: "more actions", times: 7 }, act("a", 901)]);
  expect(clients.actions).toHaveLength(actionsLimit + 2);
  expect(clients.actions[0]).toMatchObject({ client: "a", times: 2 });
  expect(clients.actions.slice(-2)).toMatchObject([
    { kind: "cdp", run: 2, times: 7 },
    { kind: "mcp", run: 903 },
  ]);
});

test("what one client does again and again is one action, until something else is done", () => {
  const clients = new Clients();
  clients.report([act("a", 1), act("a", 2)]);
  const [first] = clients.actions;
  clients.report([act("a", 3), act("b", 4), act("a", 5), { ...act("a", 6), ok: false }]);
  expect(clients.actions.map(({ number, client, time, times }) => [number, client, time, times])).toEqual([
    [1, "a", 3, 3],
    [2, "b", 4, 1],
    [3, "a", 5, 1],
    [4, "a", 6, 1],
  ]);
  expect(first).toMatchObject({ time: 2, times: 2 }); // what a row holds does not change under it
});

test("the specification's examples are understood", async () => {
  const clients = new Clients();
  const store = new Store();
  const permissions = new Permissions(store, clients, () => 60_000);
  const recordings = new Recordings(store, async () => {});
  const { dial } = await serve(new Map([...clientCommands(clients), ...permissionCommands(permissions, recordings)]));
  const vectors = commandVectors().filter(({ command }) => /^(client|permission)\./.test(command));
  expect(vectors.length).toBeGreaterThan(3);
  const one = await dial();
  for (const { command, arg } of vectors) {
    const answers = command === "permission.answer"; // a question that is not there
    expect(await one.ask(...call(command, arg))).toMatchObject({ success: !answers });
  }
  permissions.close();
});

describe("a reload", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "bc-activity-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("keeps what was done, and counts on", () => {
    const path = join(folder, "storage", "activity.json");
    const before = new Clients();
    before.remember([client("a")]);
    const details = { duration: 3, reason: "human", covers: "input" };
    const memory = { script: "() => 1", effects: [{ kind: "error", text: "x", late: true }], picture: "/9j/4AAQ" };
    const last = { ...act("a", 3), target: "Buy", url: "http://127.0.0.1/" };
    before.report([act("a", 1), act("a", 2), { ...last, details: { ...details, ...memory } }]);
    before.report([{ ...act("a", 4), target: "Own", details: { ...details, ...memory } }], true);
    before.userDid("Stopped Agent");
    writeActions(path, before.actions);
    const after = new Clients();
    after.restore(readActions(path));
    const [first, second, { personal, ...own } = {} as never, user] = before.actions;
    const withPicture = { ...details, picture: memory.picture };
    // The rest is in no file, and no picture of the user's own browser is.
    expect(after.actions).toEqual([first, { ...second, details: withPicture }, { ...own, details }, user]);
    after.report([{ ...act("b", 4), target: "Sell" }]);
    expect(after.actions.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("begins without actions where nothing was kept, and names what cannot be read", () => {
    expect(readActions(join(folder, "none.json"))).toEqual([]);
    const path = join(folder, "activity.json");
    for (const text of ["", "{}", "[1]", '[{"client":"a"}]']) {
      writeFileSync(path, text);
      expect(() => readActions(path), text).toThrow();
    }
  });
});
