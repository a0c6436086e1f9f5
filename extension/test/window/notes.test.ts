// What the user writes to agents, until these take it.
import { expect, onTestFinished, test } from "vitest";
import { stop } from "../../src/core/access/access";
import { Clients } from "../../src/core/window/clients";
import type { Caller } from "../../src/core/window/connection";
import { Notes, noteCommands } from "../../src/core/window/notes";
import { Store } from "../../src/core/window/store";

const client = (id: string, kind: "mcp" | "cdp" = "mcp") => ({ id, name: `Agent ${id}`, version: "1", kind, since: 1 });
const note = (text: string) => ({ text, page: { title: "Shop", url: "http://shop.test/" }, elements: ["h1"] });

function play() {
  const store = new Store();
  const clients = new Clients();
  const notes = new Notes(store, clients);
  onTestFinished(() => notes.close());
  const connection = new AbortController();
  clients.announce(connection.signal, [client("a"), client("b"), client("p", "cdp")]);
  return { store, clients, notes, connection };
}

test("the state has the agents for which there is a note, until they take it", async () => {
  const { store, notes } = play();
  expect(notes.send("a", note(" one "))).toBe(true);
  expect(notes.send("a", note("two"))).toBe(true);
  expect(notes.send("b", note("three"))).toBe(true);
  expect(store.state.notes).toEqual(["a", "b"]);
  const [[, { run }]] = noteCommands(notes) as [ReturnType<typeof noteCommands>[number]];
  const take = (id: string) => run({ client: { id, name: "x", version: "" } }, {} as Caller);
  expect(await take("a")).toEqual({ notes: [note("one"), note("two")] });
  expect(store.state.notes).toEqual(["b"]);
  expect(await take("a")).toEqual({ notes: [] });
  await take("b");
  expect(store.state).not.toHaveProperty("notes");
});

test("a client of the endpoint, one that is stopped and one that has left get none", () => {
  const { store, notes, clients, connection } = play();
  expect(notes.send("p", note("to a program"))).toBe(false);
  stop(store, client("b"));
  expect(notes.recipients.map(({ id }) => id)).toEqual(["a"]);
  expect(notes.send("b", note("to one that is stopped"))).toBe(false);
  notes.send("a", note("to one that leaves"));
  connection.abort();
  expect(store.state).not.toHaveProperty("notes");
  clients.announce(new AbortController().signal, [client("a")]);
  expect(notes.take("a")).toEqual([]);
});

test("the newest are kept, and none is long", () => {
  const { notes } = play();
  for (let count = 1; count <= 21; count += 1) notes.send("a", note(`${count}`));
  const page = { title: "z".repeat(1_000), url: `http://shop.test/${"z".repeat(3_000)}` };
  notes.send("a", { text: "x".repeat(3_000), page, elements: ["y".repeat(1_000)] });
  const all = notes.take("a");
  expect(all.map(({ text }) => text.slice(0, 2)).slice(0, 2)).toEqual(["3", "4"]);
  expect(all).toHaveLength(20);
  expect(all.at(-1)?.text).toHaveLength(2_000);
  expect(all.at(-1)?.elements[0]).toHaveLength(300);
  expect(all.at(-1)?.page.title).toHaveLength(300);
  expect(all.at(-1)?.page.url).toHaveLength(2_000);
});
