// How the window tells what the human looks at; the editor itself is in e2e/editorcontext.test.ts.
import { expect, onTestFinished, test } from "vitest";
import { EditorContext } from "../src/core/editorcontext";
import type { Editor } from "../src/core/protocol.generated";
import { Store } from "../src/core/store";

test("many changes are one event, with what is there at the end; what is gone is left out", async () => {
  const store = new Store();
  let line = 0;
  let shared = true;
  const read = async (): Promise<Editor | undefined> =>
    shared ? { path: "/a", line, column: 1, endLine: line, endColumn: 1, dirty: false } : undefined;
  const context = new EditorContext(store, read);
  onTestFinished(() => context.close());
  const next = () => new Promise<void>((resolve) => onTestFinished(store.subscribe(() => resolve())));
  const first = next();
  while (line < 50) {
    line += 1;
    context.changed();
  }
  await first;
  expect(store.seq).toBe(1);
  expect(store.state.editor?.line).toBe(50);
  shared = false;
  const second = next();
  context.changed();
  await second;
  expect(store.state).not.toHaveProperty("editor");
});
