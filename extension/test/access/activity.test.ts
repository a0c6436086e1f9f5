// The actions of agents as the user reads them.
import { expect, test } from "vitest";
import {
  actionLine,
  actorName,
  actorsOf,
  allowedBy,
  clock,
  duration,
  effectName,
  grouped,
  groupLine,
  placeFrom,
  runningLine,
} from "../../src/core/access/activity";
import { Clients } from "../../src/core/window/clients";

const noon = new Date(2026, 10, 23, 12, 0, 0).getTime();
const names = { a: "Claude Code", b: "Cursor", p: "Playwright", q: "Puppeteer" };

/** What a window lists of these clients' acts, one a second. */
function actions(...acts: [client: keyof typeof names, act: string, ok?: boolean][]) {
  const clients = new Clients();
  clients.remember(
    Object.entries(names).map(([id, name]) => ({ id, name, version: "", kind: id < "p" ? "mcp" : "cdp", since: 1 })),
  );
  const entry = { target: "", outcome: "done", ok: true };
  clients.report(acts.map(([client, act, ok = true], i) => ({ ...entry, client, act, ok, time: noon + i * 1_000 })));
  return clients.actions;
}

test("consecutive commands of one CDP client are a group; what agents do is not grouped", () => {
  const groups = grouped(
    actions(
      ["a", "browser_click"],
      ["a", "browser_hover"],
      ["p", "DOM.focus"],
      ["p", "Page.navigate"],
      ["q", "DOM.focus"],
      ["b", "browser_click"],
      ["q", "Page.navigate"],
    ),
  );
  expect(groups.map((group) => group.map(({ client, act }) => `${client} ${act}`))).toEqual([
    ["q Page.navigate"],
    ["b browser_click"],
    ["q DOM.focus"],
    ["p Page.navigate", "p DOM.focus"],
    ["a browser_hover"],
    ["a browser_click"],
  ]);
});

test("a group keeps its number while it grows and while its oldest commands are forgotten", () => {
  const many = Array.from({ length: 300 }, (_, n) => ["p", `DOM.x${n}`] as ["p", string]);
  const runs = [2, 30, 300].map((n) => grouped(actions(...many.slice(0, n)))[0]?.[0]?.run);
  expect(runs).toEqual([1, 1, 1]);
});

test("a group has the count of its commands with their repeats, and that of the failed", () => {
  const [group = []] = grouped(actions(["p", "DOM.focus"], ["p", "DOM.focus"], ["p", "Page.navigate", false]));
  expect(group).toHaveLength(2);
  expect(groupLine(group, true)).toEqual({
    label: "3 commands",
    description: `1 failed · Playwright · ${clock(noon + 2_000)}`,
  });
  expect(groupLine(group.slice(1), false)).toEqual({ label: "2 commands", description: clock(noon + 1_000) });
});

test("an action is first, then what matters of it, who it was, and when", () => {
  const [click] = actions(["a", "browser_click"]);
  if (!click) throw new Error("it is not listed");
  const target = 'button "Order"';
  const time = clock(noon);
  expect(actionLine({ ...click, target }, true)).toEqual({
    label: 'Click button "Order"',
    description: `Claude Code · ${time}`,
  });
  expect(actionLine({ ...click, times: 3 }, false)).toEqual({ label: "Click", description: `3× · ${time}` });
  expect(actionLine({ ...click, act: "browser_take_screenshot", ok: false, outcome: "refused" }, true)).toEqual({
    label: "Take screenshot",
    description: `refused · Claude Code · ${time}`,
  });
});

test("a script begins its row; what runs it follows", () => {
  const [evaluate] = actions(["a", "browser_evaluate"]);
  if (!evaluate) throw new Error("it is not listed");
  const time = clock(noon);
  const script = "() =>\n  document.title";
  const done = { ...evaluate, details: { duration: 1, script } };
  const line = { label: "() => document.title", description: `Evaluate · Claude Code · ${time}` };
  expect(actionLine(done, true)).toEqual(line);
  const long = actionLine(
    { ...done, details: { duration: 1, script: `a();${" ".repeat(9)}${"x".repeat(500)}b()` } },
    true,
  );
  expect(long.label).toMatch(/^a\(\); x+ …\(\d+ characters left out\)… x+b\(\)$/);
  const call = { client: "a", name: "Claude Code", time: noon, act: "browser_evaluate", target: "", script };
  expect(runningLine(call, false)).toEqual({ ...line, description: `Evaluate · running · since ${time}` });
});

test("what the user has decided is in their words, and is no agent's", () => {
  const clients = new Clients();
  clients.userDid("Stopped Agent");
  const [act] = clients.actions;
  if (!act) throw new Error("it is not listed");
  expect(actionLine(act, true)).toEqual({ label: "Stopped Agent", description: `You · ${clock(act.time)}` });
  expect(actionLine(act, false)).toEqual({ label: "Stopped Agent", description: clock(act.time) });
  expect(actorsOf(clients.actions).map(actorName)).toEqual(["You"]);
  expect(actorName("An agent")).toBe("An agent");
  expect(clients.last).toEqual([]);
});

test("an action that something followed has the number of problems, without those before it", () => {
  const [click] = actions(["a", "browser_click"]);
  if (!click) throw new Error("it is not listed");
  const error = { kind: "error", text: "x" };
  const description = (...effects: object[]) =>
    actionLine({ ...click, details: { duration: 1, effects: effects as (typeof error)[] } }, false).description;
  expect(description({ ...error, late: true })).toBe(clock(noon));
  expect(description(error, { ...error, late: true })).toBe(`1 problem · ${clock(noon)}`);
  expect(description(error, error)).toBe(`2 problems · ${clock(noon)}`);
});

test("a call that runs is shown as such", () => {
  const call = { client: "a", name: "Claude Code", time: noon, act: "browser_evaluate", target: "" };
  expect(runningLine(call, true)).toEqual({
    label: "Evaluate",
    description: `running · Claude Code · since ${clock(noon)}`,
  });
});

test("who allowed it, and nothing where that is not known", () => {
  expect(allowedBy({ reason: "human" })).toBe("You, when you were asked");
  expect(allowedBy({ reason: "grant", covers: "input" })).toBe("Your permission for its session: Clicks and Typing");
  expect(allowedBy({ reason: "grant", covers: "*" })).toBe("Your permission for its session: Everything");
  expect(allowedBy({ reason: "mode" })).toMatch("The mode");
  expect(allowedBy({ reason: "reads" })).toMatch("only reads");
  for (const reason of [{}, { reason: "of a newer coordinator" }]) expect(allowedBy(reason)).toBeUndefined();
});

test("effects have names, also those of a newer coordinator", () => {
  const name = (kind: string, late?: boolean) => effectName({ kind, text: "", ...(late && { late }) });
  expect(["request", "error", "warning", "[x](command:y)"].map((kind) => name(kind))).toEqual([
    "Failed request",
    "Error",
    "Warning",
    "[x] (command:y)",
  ]);
  expect(name("error", true)).toBe("Error, before this action");
});

test("a place in a file leads there, and no URL does", () => {
  expect(placeFrom("src/cart.ts:12:5")).toEqual({ file: "src/cart.ts", line: 12, column: 5 });
  expect(placeFrom("C:/shop/a b.ts:3")).toEqual({ file: "C:/shop/a b.ts", line: 3, column: 1 });
  for (const text of ["", "src/cart.ts", "http://127.0.0.1:80/a.js:1:2", "vscode://x/y:1", "command:x:1:1"]) {
    expect(placeFrom(text), text).toBeUndefined();
  }
});

test("durations in the units of people", () => {
  expect([0, 45, 1_500, 12_400, 125_000].map(duration)).toEqual(["0.00 s", "0.04 s", "1.5 s", "12 s", "2 min 5 s"]);
});

test("one clock: hours, minutes and seconds, and the date of another day", () => {
  expect(clock(noon, noon + 1)).toBe("12:00:00");
  expect(clock(noon + 61_000, noon)).toBe("12:01:01");
  expect(clock(noon, noon + 24 * 3_600_000)).toBe("2026-11-23 12:00:00");
});

test("those who did something, the latest first", () => {
  expect(actorsOf(actions(["a", "x"], ["b", "x"], ["p", "DOM.focus"], ["a", "y"]))).toEqual([
    "Claude Code",
    "Playwright",
    "Cursor",
  ]);
});
