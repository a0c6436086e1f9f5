// Showing that the user is recorded. The editor's notification is played here; the real one is in
// e2e/record.test.ts.
import { expect, test } from "vitest";
import { stop } from "../../src/core/access/access";
import { Recordings } from "../../src/core/access/record";
import { Store } from "../../src/core/window/store";

const arg = { client: { id: "c", name: "Agent", version: "1" }, message: "Order tea", seconds: 60 };

function play(value: unknown, store = new Store()) {
  const shown: { text: string; signal: AbortSignal; end: () => void }[] = [];
  const abort = new AbortController();
  const caller = { signal: abort.signal, connection: new AbortController().signal, peer: undefined };
  const { command } = new Recordings(store, (text, signal) => new Promise((end) => shown.push({ text, signal, end })));
  return { shown, abort, outcome: command.run(value, caller) };
}

test("the notice names who records, and goes when the user ends it", async () => {
  const { shown, outcome } = play(arg);
  expect(shown[0]?.text).toBe("Agent 1 records what you do in the page: Order tea");
  shown[0]?.end();
  expect(await outcome).toEqual({ outcome: "ended" });
  expect(shown[0]?.signal.aborted).toBe(true);
});

test("the notice goes when the time is up, and when the agent has what it wants", async () => {
  const late = play({ ...arg, message: "", seconds: 0.001 });
  expect(late.shown[0]?.text).toBe("Agent 1 records what you do in the page.");
  expect(await late.outcome).toEqual({ outcome: "timeout" });
  const { shown, abort, outcome } = play(arg);
  abort.abort(new Error("enough"));
  await expect(outcome).rejects.toThrow("enough");
  expect(shown[0]?.signal.aborted).toBe(true);
});

test("a recording ends when the user stops its client, and one of a stopped client at once", async () => {
  const store = new Store();
  const { shown, outcome } = play(arg, store);
  stop(store, { name: "Another" });
  expect(shown[0]?.signal.aborted).toBe(false);
  stop(store, { name: "Agent" });
  expect(await outcome).toEqual({ outcome: "ended" });
  expect(shown[0]?.signal.aborted).toBe(true);
  expect(await play(arg, store).outcome).toEqual({ outcome: "ended" });
});
