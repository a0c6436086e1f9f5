// What is done and asked for, in words.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { actionText, fullText, requestText } from "../../src/core/access/actions";

test.each([
  ["browser_click", 'click button "Buy"', 'click button "Buy"'],
  ["browser_fill_form", "", "fill form"],
  ["connect", "", "control this browser"],
  ["browser_click", "[x](command:y)", "[x] (command:y)"],
  ["browser_click", "\u200b", "click"],
  ["\u200b", "", "something that it does not name"],
])("%s about %j is asked for as %j", (act, detail, text) => expect(requestText({ act, detail })).toBe(text));

test("code cannot hide: what the text has not all of is shown in full", () => {
  const action = (detail: string) => ({
    client: { id: "a", name: "a", version: "1" },
    act: "browser_evaluate",
    detail,
  });
  const long = `run a script: ${"nothing; ".repeat(500)}evil();${"nothing; ".repeat(500)}`;
  expect(requestText(action(long))).toMatch(/^run a script: nothing; .*… \(in full below: 9020 characters\)$/);
  expect(fullText([action(long)])).toBe(long);
  expect(fullText([action("1")])).toBe("");
  // Several have less room.
  const some = `run a script: ${"nothing; ".repeat(10)}evil()`;
  expect(fullText([action(some)])).toBe("");
  expect(fullText([action("1"), action(some), action("2"), action(long)])).toBe(some);
  // Neither behind a comment, nor by characters that one does not see.
  expect(requestText(action("1 // harmless\n evil()"))).toBe("1 // harmless ↵ evil()");
  expect(fullText([action(`${long}\n\u202e// \u2066`)])).toBe(`${long}\n[U+202E]// [U+2066]`);
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
