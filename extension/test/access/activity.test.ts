// The actions of agents as the user reads them.
import { expect, test } from "vitest";
import { actionLine, actorsOf, clock, grouped, groupLine } from "../../src/core/access/activity";
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
