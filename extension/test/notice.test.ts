// Notifications of a played editor, which calls back later, as the real one.
import { expect, test } from "vitest";
import { notify } from "../src/vscode/notice";
import * as editor from "./support/editor";

test.each([
  ["before", 0],
  ["while", 1],
])("a notification goes that is given up %s it is shown", async (_, turns) => {
  const given = new AbortController();
  void notify("Click an element", true, given.signal);
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  given.abort();
  await new Promise(setImmediate);
  expect(editor.notices.size).toBe(0);
});
