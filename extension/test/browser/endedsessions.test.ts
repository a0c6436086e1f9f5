import { expect, test } from "vitest";
import { EndedSessions } from "../../src/core/browser/endedsessions";

const root = { id: "root" };
const page = { id: "page", parent: root };

test("a session is over when it has ended, and until it is started again", () => {
  const ended = new EndedSessions();
  expect(ended.has(page)).toBe(false);
  ended.ended("page");
  expect([ended.has(page), ended.has(root)]).toEqual([true, false]);
  ended.started("page"); // a restart keeps its id
  expect(ended.has(page)).toBe(false);
});

test("with a session all are over that are part of it", () => {
  const ended = new EndedSessions();
  ended.ended("root"); // the editor may report the page's end later, and make it active before
  expect(ended.has(page)).toBe(true);
  ended.started("page");
  expect(ended.has(page)).toBe(true);
  ended.started("root");
  expect(ended.has(page)).toBe(false);
});
