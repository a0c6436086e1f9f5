// Which rows of a tree are redrawn.
import { expect, test } from "vitest";
import { renew, type TreeRow } from "../src/core/treechanges";

function row(id: string, drawn = id, rows?: TreeRow[]): TreeRow {
  return rows ? { id, drawn, rows } : { id, drawn };
}

test("where nothing is seen to change, nothing is drawn, and each row stays the same object", () => {
  const shown = [row("mode"), row("browser", "Chromium", [row("page")])];
  const before = [...shown];
  expect(renew(shown, [row("mode"), row("browser", "Chromium", [row("page")])])).toEqual([]);
  shown.forEach((each, index) => void expect(each).toBe(before[index]));
});

test("a row that looks different is drawn alone, and has what it has now", () => {
  const shown = [row("mode", "full"), { ...row("client", "Ada"), client: { version: "1" } }];
  const [, client] = shown;
  const now = [row("mode", "full"), { ...row("client", "Ada, stopped"), client: { version: "2" } }];
  expect(renew(shown, now)).toEqual([client]);
  expect(shown[1]).toBe(client);
  expect(client).toEqual({ id: "client", drawn: "Ada, stopped", client: { version: "2" } });
});

test("what is not seen is taken over without drawing", () => {
  const shown = [{ ...row("client"), since: 1 }];
  expect(renew(shown, [{ ...row("client"), since: 2 }])).toEqual([]);
  expect(shown).toEqual([{ ...row("client"), since: 2 }]);
});

test("what a row no longer has is gone", () => {
  const shown = [{ ...row("action", "with a picture"), tooltip: "its picture" }];
  const now: (TreeRow & { tooltip?: string })[] = [row("action", "without")];
  expect(renew<TreeRow & { tooltip?: string }>(shown, now)).toEqual([{ id: "action", drawn: "without" }]);
});

test("of the rows below one, only that which changed is drawn", () => {
  const shown = [row("browser", "Chromium", [row("one", "Shop"), row("two", "Basket")])];
  const two = shown[0]?.rows?.[1];
  expect(renew(shown, [row("browser", "Chromium", [row("one", "Shop"), row("two", "Paid")])])).toEqual([two]);
  expect(shown[0]?.rows?.[1]).toBe(two);
});

test("where rows below one come or go, that one is drawn with them", () => {
  const shown = [row("browser", "Chromium", [row("one"), row("two")])];
  const [browser] = shown;
  const one = browser?.rows?.[0];
  expect(renew(shown, [row("browser", "Chromium", [row("one"), row("three")])])).toEqual([browser]);
  expect(browser?.rows?.map(({ id }) => id)).toEqual(["one", "three"]);
  expect(browser?.rows?.[0]).toBe(one);
});

test.each([
  ["comes", [row("two"), row("one"), row("mode")]],
  ["goes", [row("mode")]],
  ["moves", [row("one"), row("mode")]],
])("a row of the list itself that %s has all drawn", (_, now) => {
  const shown = [row("mode"), row("one")];
  expect(renew(shown, now)).toBe("all");
  expect(shown).toEqual(now);
});

test("a row can lose all that is below it", () => {
  const shown = [row("browser", "open", [row("page")])];
  const [browser] = shown;
  expect(renew(shown, [row("browser", "closed")])).toEqual([browser]);
  expect(browser?.rows).toBeUndefined();
});
