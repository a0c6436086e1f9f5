// What the user writes to agents, until these take it.
import { expect, onTestFinished, test } from "vitest";
import { stop } from "../../src/core/access/access";
import { Clients } from "../../src/core/window/clients";
import type { Caller } from "../../src/core/window/connection";
import { pictureLimit } from "../../src/core/window/notelimits";
import { Notes, noteCommands } from "../../src/core/window/notes";
import { Store } from "../../src/core/window/store";

const client = (id: string, kind: "mcp" | "cdp" = "mcp") => ({ id, name: `Agent ${id}`, version: "1", kind, since: 1 });
const page = { title: "Shop", url: "http://shop.test/" };
const note = (text: string) => ({ text, annotations: [{ element: "h1", text: "", page }] });

/** Runs one of the commands. */
function run(notes: Notes, name: string, arg: unknown): Promise<unknown> {
  const found = noteCommands(notes).find(([each]) => each === name);
  return (found as NonNullable<typeof found>)[1].run(arg, {} as Caller) as Promise<unknown>;
}

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
  const take = (id: string) => run(notes, "note.take", { client: { id, name: "x", version: "" } });
  expect(await take("a")).toEqual({ note: note("one") });
  expect(store.state.notes).toEqual(["a", "b"]);
  expect(await take("a")).toEqual({ note: note("two") });
  expect(store.state.notes).toEqual(["b"]);
  expect(await take("a")).toEqual({});
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
  expect(notes.take("a")).toBeUndefined();
});

test("the newest are kept, and none is long", () => {
  const { notes } = play();
  for (let count = 1; count <= 21; count += 1) notes.send("a", note(`${count}`));
  const page = { title: "z".repeat(1_000), url: `http://shop.test/${"z".repeat(3_000)}` };
  const long = { element: "y".repeat(1_000), text: "x".repeat(3_000), page };
  const pictures = [{ picture: "A".repeat(pictureLimit) }, { picture: "A".repeat(pictureLimit + 4) }];
  const annotations = [...pictures, ...Array(10).fill({})].map((each) => ({ ...long, ...each }));
  notes.send("a", { text: "x".repeat(3_000), annotations });
  const all = Array.from({ length: 21 }, () => notes.take("a"));
  expect(all.map((each) => each?.text.slice(0, 2)).slice(0, 2)).toEqual(["3", "4"]);
  expect(all.at(-1)).toBeUndefined();
  const last = all.at(-2);
  expect(last?.text).toHaveLength(2_000);
  expect(last?.annotations).toHaveLength(10);
  const [first, second] = last?.annotations ?? [];
  expect(first?.element).toHaveLength(300);
  expect(first?.text).toHaveLength(2_000);
  expect(first?.page.title).toHaveLength(300);
  expect(first?.page.url).toHaveLength(2_000);
  expect(first?.picture).toHaveLength(pictureLimit);
  expect(second).not.toHaveProperty("picture");
});

test("a note written elsewhere is taken as it is; one that nobody gets or of another form is refused", async () => {
  const { store, notes } = play();
  const node = { target: "t", document: "d", id: 7 };
  const full = { text: "Blue.", annotations: [{ element: "", text: "Here", page, node, picture: "AAAA" }] };
  expect(await run(notes, "note.give", { recipient: "a", note: { ...full, more: 1 } })).toEqual({});
  expect(notes.take("a")).toEqual(full);
  const give = (recipient: string, note: unknown = full) => run(notes, "note.give", { recipient, note });
  await expect(give("p")).rejects.toThrow("the agent has left");
  stop(store, client("b"));
  await expect(give("b")).rejects.toThrow("the agent is stopped: resume it");
  const { page: _, ...pageless } = full.annotations[0] as (typeof full.annotations)[number];
  await expect(give("a", { ...full, annotations: [pageless] })).rejects.toThrow("page");
  expect(notes.take("a")).toBeUndefined();
});
