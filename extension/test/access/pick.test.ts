// Asking the user to click an element. The editor's notification is played here; the real one is in
// e2e/pick.test.ts.
import { expect, onTestFinished, test, vi } from "vitest";
import { type Notice, pickCommand } from "../../src/core/access/pick";
import { plain } from "../../src/core/plaintext";
import type { Caller } from "../../src/core/window/connection";

const arg = { client: { id: "c", name: "Agent", version: "1" }, message: "Which button?", seconds: 60 };

function play() {
  const shown: { text: string; signal: AbortSignal; cancel: () => void }[] = [];
  const notice: Notice = (text, signal) => new Promise((cancel) => shown.push({ text, signal, cancel }));
  const abort = new AbortController();
  const caller: Caller = { signal: abort.signal, connection: new AbortController().signal, peer: undefined };
  return { shown, abort, run: (value: unknown) => pickCommand(notice).run(value, caller) };
}

test("the notice names who asks and what for, and goes when the user cancels", async () => {
  const { shown, run } = play();
  const outcome = run(arg);
  expect(shown[0]?.text).toBe("Agent 1 asks you to click an element in the page: Which button?");
  shown[0]?.cancel();
  expect(await outcome).toEqual({ outcome: "cancelled" });
  expect(shown[0]?.signal.aborted).toBe(true);
});

test("when the time is up the notice goes", async () => {
  const { shown, run } = play();
  expect(await run({ ...arg, seconds: 0.001 })).toEqual({ outcome: "timeout" });
  expect(shown[0]?.signal.aborted).toBe(true);
});

test("when the call is given up the notice goes, and nothing waits for the time any more", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { shown, run, abort } = play();
  const outcome = run(arg);
  expect(vi.getTimerCount()).toBe(1);
  abort.abort(new Error("given up"));
  await expect(outcome).rejects.toThrow("given up");
  expect(shown[0]?.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a client's words make no link and no second line", () => {
  expect(plain("see [this](command:workbench.action.quit)\n\u202eor that", 300)).toBe(
    "see [this] (command:workbench.action.quit) or that",
  );
  expect(plain("a".repeat(400), 300)).toHaveLength(300);
});
