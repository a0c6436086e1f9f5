// Who stands and why, by the messages of the Debug Adapter Protocol, in the orders in which they come.
import { expect, test } from "vitest";
import type { SessionInfo } from "../../src/core/browser/sessions";
import { Threads } from "../../src/core/debugger/threads";

const info: SessionInfo = { id: "a", name: "a", type: "pwa-chrome", configuration: {} };
const stopped = (reason: string, more: object = {}) => ({
  type: "event",
  event: "stopped",
  body: { reason, threadId: 1, ...more },
});
const next = { type: "request", seq: 7, command: "next", arguments: { threadId: 1 } };
const answer = (success: boolean) => ({ type: "response", request_seq: 7, success });

function start() {
  const threads = new Threads();
  return { threads, session: threads.started(info, true) };
}

test("a stop is known with its reason, until the thread goes on", () => {
  const { threads, session } = start();
  threads.fromAdapter("a", stopped("breakpoint", { description: "Paused on breakpoint" }));
  expect(session.stopOf()).toEqual({ thread: 1, reason: "breakpoint", description: "Paused on breakpoint" });
  threads.fromAdapter("a", { type: "event", event: "continued", body: { threadId: 1 } });
  expect(session.stopOf()).toBeUndefined();
});

test("of an exception the text is reported", () => {
  const { threads, session } = start();
  threads.fromAdapter("a", stopped("exception", { description: "Paused on exception", text: "TypeError: no" }));
  expect(session.stopOf()?.description).toBe("TypeError: no");
});

test("a step lets the thread run from its request on, and the next stop may come before the answer", () => {
  const { threads, session } = start();
  threads.fromAdapter("a", stopped("breakpoint"));
  threads.toAdapter("a", next);
  expect(session.stopOf()).toBeUndefined();
  threads.fromAdapter("a", stopped("step"));
  threads.fromAdapter("a", answer(true));
  expect(session.stopOf()?.reason).toBe("step");
});

test("a step that the adapter refuses leaves the thread where it stands", () => {
  const { threads, session } = start();
  threads.fromAdapter("a", stopped("breakpoint"));
  threads.toAdapter("a", next);
  threads.fromAdapter("a", answer(false));
  expect(session.stopOf()?.reason).toBe("breakpoint");
});

test("of several threads each is known, and the last to stop is meant", () => {
  const { threads, session } = start();
  threads.fromAdapter("a", stopped("breakpoint"));
  threads.fromAdapter("a", stopped("pause", { threadId: 2 }));
  expect(session.stopOf()?.thread).toBe(2);
  expect(session.stopOf(1)?.reason).toBe("breakpoint");
  threads.fromAdapter("a", { type: "event", event: "thread", body: { reason: "exited", threadId: 2 } });
  expect(session.stopOf()?.thread).toBe(1);
  threads.fromAdapter("a", { type: "event", event: "continued", body: { threadId: 1, allThreadsContinued: true } });
  expect(session.stopOf()).toBeUndefined();
});

test("waiting ends with what is waited for, with its limit, or when it is given up", async () => {
  const { threads, session } = start();
  const { signal } = new AbortController();
  const stop = threads.until(() => session.stopOf(), signal, 5_000);
  threads.fromAdapter("a", stopped("pause"));
  expect((await stop)?.reason).toBe("pause");
  expect(await threads.until(() => undefined, signal, 1)).toBeUndefined();
  const abort = new AbortController();
  const given = threads.until(() => undefined, abort.signal);
  abort.abort(new Error("given up"));
  await expect(given).rejects.toThrow("given up");
});

test("a change of breakpoints is known when each adapter that takes them has answered to each of them", async () => {
  const { threads } = start();
  threads.started({ ...info, id: "b" }, true); // takes none yet
  const send = (seq: number) => threads.toAdapter("a", { type: "request", seq, command: "setBreakpoints" });
  const respond = (seq: number) => threads.fromAdapter("a", { type: "response", request_seq: seq, success: true });
  threads.fromAdapter("a", { type: "event", event: "initialized" });
  send(1); // of another change
  let known = false;
  const { signal } = new AbortController();
  const changed = threads.changeBreakpoints(() => 2, signal, 60_000).finally(() => (known = true));
  for (const step of [() => respond(1), () => send(2), () => send(3), () => respond(2)]) {
    step();
    await Promise.resolve();
    expect(known).toBe(false);
  }
  respond(3);
  expect(await changed).toBe(2);
  expect(await threads.changeBreakpoints(() => 0, signal, 60_000)).toBe(0); // nothing to wait for
  expect(await threads.changeBreakpoints(() => 1, signal, 1)).toBe(1); // an adapter that does not answer
  const last = threads.changeBreakpoints(() => 1, signal, 60_000);
  threads.ended("a");
  expect(await last).toBe(1);
});

test("Stop of a browser's oldest page is meant for the browser; the end of a page is not", () => {
  const threads = new Threads();
  const child = (id: string, parent: SessionInfo): SessionInfo => ({ ...info, id, name: id, parent });
  const page = child("page", info);
  for (const each of [info, page, child("frame", page), child("tab", info)]) threads.started(each, true);
  const stop = (id: string, command = "terminate", args = {}) =>
    threads.browserToStop(id, { type: "request", command, arguments: args })?.id;
  expect(stop("page")).toBe("a");
  expect(stop("page", "disconnect", { terminateDebuggee: false })).toBe("a");
  expect(stop("page", "disconnect", { restart: true })).toBeUndefined();
  expect(stop("page", "pause")).toBeUndefined();
  expect(stop("tab")).toBeUndefined();
  expect(stop("frame")).toBeUndefined();
  expect(stop("a")).toBeUndefined();
  threads.fromAdapter("page", { type: "event", event: "terminated" });
  expect(stop("page", "disconnect")).toBeUndefined();
  threads.ended("page");
  expect(stop("tab")).toBe("a");
});
