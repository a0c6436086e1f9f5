// What is done and asked for, in words.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { actionText, requestText } from "../../src/core/access/actions";

test.each([
  ["browser_click", 'click button "Buy"', 'click button "Buy"'],
  ["browser_fill_form", "", "fill form"],
  ["connect", "", "control this browser"],
  ["browser_click", "[x](command:y)", "(x)(command:y)"],
  ["browser_click", "\u200b", "click"],
  ["\u200b", "", "something that it does not name"],
])("%s about %j is asked for as %j", (act, detail, text) => expect(requestText({ act, detail })).toBe(text));

test("code cannot hide behind a cut", () => {
  const detail = `run a script: ${"nothing; ".repeat(1000)}evil()`;
  const text = requestText({ act: "browser_evaluate", detail });
  expect(text).toMatch(/^run a script: nothing; .* …\(8780 characters left out\)… .*; evil\(\)$/);
  // What the coordinator has cut already counts too.
  const cut = `${"a".repeat(200)} …(5000 bytes left out)… ${"b".repeat(200)}`;
  expect(requestText({ act: "browser_evaluate", detail: cut })).toContain("…(5185 characters left out)…");
});

test.each([
  ["browser_take_screenshot", "", "take screenshot"],
  ["browser_click", 'button "Buy"', 'click button "Buy"'],
  ["pick_element", "", "pick element"],
  ["Input.dispatchKeyEvent", "keyDown", "press a key: keyDown"],
  ["Overlay.setShowFPSCounter", "", "Overlay.setShowFPSCounter"],
  ["debug_breakpoints", "Set a breakpoint at “src/cart.ts:28”", "Set a breakpoint at “src/cart.ts:28”"],
])("%s with %j is listed as %j", (act, target, text) => expect(actionText({ act, target })).toBe(text));

test("the methods that have words are such as act, by the list that the endpoint goes by", () => {
  const source = readFileSync(fileURLToPath(new URL("../../src/core/access/actions.ts", import.meta.url)), "utf8");
  const list = readFileSync(fileURLToPath(new URL("../../../policy/clientview.txt", import.meta.url)), "utf8");
  const named = [...source.matchAll(/^ {2}"(\w+\.\w+)":/gm)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect(list).not.toMatch(new RegExp(`^${name}(?! source==NO-CODE)\\b`, "m"));
});
