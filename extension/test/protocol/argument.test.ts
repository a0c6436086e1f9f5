// What a command makes of its argument. The faults of the shared vectors' requests are in messages.test.ts.
import { expect, test } from "vitest";
import { Argument } from "../../src/core/protocol/argument";
import { Refusal } from "../../src/core/protocol/request";

function fault(read: () => unknown): { code: string; data: unknown } {
  try {
    read();
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, data: error.data };
    throw error;
  }
  throw new Error("it was not refused");
}

test("members that fit are read, and those that may be left out are undefined", () => {
  const arg = Argument.parse({ path: "a.ts", line: 3, client: { id: "c1", name: "Agent", version: "" }, on: true });
  expect(arg.text("path")).toBe("a.ts");
  expect(arg.optional("line", () => arg.whole("line", 1))).toBe(3);
  expect(arg.optional("column", () => arg.whole("column", 1))).toBeUndefined();
  expect(arg.client()).toEqual({ id: "c1", name: "Agent", version: "" });
  expect(arg.flag("on")).toBe(true);
  expect(Argument.parse(undefined).has("path")).toBe(false);
  expect(Argument.parse({ entries: [] }).objects("entries")).toEqual([]);
});

test("a fault is refused with its place", () => {
  const arg = Argument.parse({ line: 0, action: "sett", client: { id: "" }, entries: [{}, 1], seconds: 0 });
  const at = (path: string) => ({ code: "bad_payload", data: { path } });
  expect(fault(() => Argument.parse([]))).toEqual(at("/payload/arg"));
  expect(fault(() => Argument.parse(null))).toEqual(at("/payload/arg"));
  expect(fault(() => arg.text("path"))).toEqual(at("/payload/arg/path"));
  expect(fault(() => arg.whole("line", 1))).toEqual(at("/payload/arg/line"));
  expect(fault(() => arg.choice("action", ["set", "remove"]))).toEqual(at("/payload/arg/action"));
  expect(fault(() => arg.client())).toEqual(at("/payload/arg/client/id"));
  expect(fault(() => arg.objects("entries"))).toEqual(at("/payload/arg/entries/1"));
  expect(fault(() => arg.positive("seconds"))).toEqual(at("/payload/arg/seconds"));
  expect(fault(() => arg.text("constructor"))).toEqual(at("/payload/arg/constructor"));
});
