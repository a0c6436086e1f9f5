// How the window reports the active editor; the editor itself is in e2e/editorcontext.test.ts.
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Editor } from "../../src/core/protocol/protocol.generated";
import { EditorContext } from "../../src/core/window/editorcontext";
import { Store } from "../../src/core/window/store";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An editor whose cursor is moved, with a client connected or not. */
function play() {
  const store = new Store();
  const here = { line: 0, shared: true, there: true };
  const read = vi.fn((): Editor | undefined => {
    const { line } = here;
    return here.shared ? { path: "/a", line, column: 1, endLine: line, endColumn: 1, dirty: false } : undefined;
  });
  const context = new EditorContext(store, read, () => here.there);
  onTestFinished(() => context.close());
  const move = (to: number) => {
    here.line = to;
    context.changed();
  };
  return { store, here, read, context, move };
}

test("the changes of a tenth of a second are one event, with what is there at its end", () => {
  const { store, here, read, context, move } = play();
  for (let line = 1; line <= 10; line += 1) {
    move(line);
    vi.advanceTimersByTime(9);
  }
  expect(store.seq).toBe(0);
  vi.advanceTimersByTime(9);
  move(11);
  expect(store.seq).toBe(0);
  vi.advanceTimersByTime(1);
  expect([store.seq, store.state.editor?.line]).toEqual([1, 11]);
  vi.advanceTimersByTime(1_000);
  expect(read).toHaveBeenCalledTimes(1);
  move(12);
  vi.advanceTimersByTime(99);
  expect(store.seq).toBe(1);
  vi.advanceTimersByTime(1);
  expect([store.seq, store.state.editor?.line]).toEqual([2, 12]);
  here.shared = false;
  context.changed();
  vi.advanceTimersByTime(100);
  expect(store.state).not.toHaveProperty("editor");
});

test("without a client nothing is read; a new client receives the present state", () => {
  const { store, here, read, context, move } = play();
  here.there = false;
  move(1);
  vi.advanceTimersByTime(1_000);
  context.now();
  expect(read).not.toHaveBeenCalled();
  here.there = true;
  context.now();
  expect(store.state.editor?.line).toBe(1);
  move(2);
  here.there = false;
  vi.advanceTimersByTime(1_000);
  expect(read).toHaveBeenCalledTimes(1);
  context.close();
  here.there = true;
  context.now();
  expect(read).toHaveBeenCalledTimes(1);
});
