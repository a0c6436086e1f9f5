// Who asks, what the user is asked, and the result of each answer. Time is vitest's.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { resume, setMode, stop } from "../../src/core/access/access";
import { type Choice, choicesFor, everything, Permissions } from "../../src/core/access/permission";
import type { PermissionAskResult } from "../../src/core/protocol/protocol.generated";
import { Clients } from "../../src/core/window/clients";
import { Store } from "../../src/core/window/store";

const limit = 60_000;
let store: Store;
let clients: Clients;
let permissions: Permissions;

beforeEach(() => {
  vi.useFakeTimers();
  store = new Store();
  clients = new Clients();
  permissions = new Permissions(store, clients, () => limit);
  setMode(store, "ask");
});

afterEach(() => {
  permissions.close();
  vi.useRealTimers();
});

interface Asking {
  answer: Promise<PermissionAskResult>;
  giveUp: AbortController;
}

const agent = (id: string) => ({ id, name: `Agent ${id}`, version: "1" });

function ask(id: string, act = "browser_click", category?: string): Asking {
  const giveUp = new AbortController();
  const arg = { client: agent(id), act, detail: "", ...(category !== undefined && { category }) };
  return { answer: permissions.ask(arg, giveUp.signal), giveUp };
}

/** Answers the question that is shown: the first `seen` of its actions, or all. */
function answer(choice: Choice, seen?: number): void {
  const { question } = permissions;
  if (!question) throw new Error("nobody asks");
  permissions.answer(question.id, choice, question.actions.slice(0, seen));
}

const granted = (client: string) =>
  permissions.grants.filter((grant) => grant.client.id === client).map(({ covers }) => covers);

const shown = () => permissions.question && [permissions.question.client.id, permissions.question.actions.length];

describe("without a question", () => {
  test("full allows", async () => {
    setMode(store, "full");
    expect(await ask("a").answer).toEqual({ decision: "allow", scope: "once" });
  });

  test("view refuses", async () => {
    setMode(store, "view");
    expect(await ask("a").answer).toEqual({ decision: "refuse", scope: "once", reason: "mode" });
  });

  test("a stopped client is refused in every mode, and asks again when it may go on", async () => {
    stop(store, agent("a"));
    for (const mode of ["full", "ask", "view"] as const) {
      setMode(store, mode);
      expect(await ask("a").answer).toMatchObject({ decision: "refuse", reason: "stopped" });
    }
    // So is another process of that name.
    const client = { ...agent("a"), id: "a2" };
    const again = permissions.ask({ client, act: "browser_click", detail: "" }, new AbortController().signal);
    expect(await again).toMatchObject({ decision: "refuse", reason: "stopped" });
    setMode(store, "ask");
    resume(store, agent("a"));
    void ask("a");
    expect(shown()).toEqual(["a", 1]);
  });
});

describe("an answer", () => {
  test("once is for this action alone", async () => {
    const first = ask("a");
    answer("once");
    expect(await first.answer).toEqual({ decision: "allow", scope: "once" });
    void ask("a");
    expect(shown()).toEqual(["a", 1]);
  });

  test("for the session is remembered for this client, and no other", async () => {
    const first = ask("a");
    answer("session");
    expect(await first.answer).toEqual({ decision: "allow", scope: "session" });
    expect(await ask("a").answer).toEqual({ decision: "allow", scope: "session" });
    void ask("b");
    expect(shown()).toEqual(["b", 1]);
  });

  test("for a category is remembered for this client, and other actions are asked about", async () => {
    const all = [ask("a", "click", "input"), ask("a", "type", "input"), ask("a", "open", "navigation")];
    answer("category"); // they are not of one kind: it was not offered
    expect(shown()).toEqual(["a", 3]);
    answer("category", 1);
    for (const each of all.slice(0, 2)) expect(await each.answer).toEqual({ decision: "allow", scope: "once" });
    expect(shown()).toEqual(["a", 1]);
    expect(await ask("a", "drag", "input").answer).toEqual({ decision: "allow", scope: "once" });
    expect(granted("a")).toEqual(["input"]);
    void ask("a", "drag");
    void ask("b", "click", "input");
    expect(shown()).toEqual(["a", 2]);
    expect(permissions.waiting).toBe(2);
  });

  test("for a category is not taken where users know no such category, or none is named", () => {
    for (const category of ["*", "new", undefined]) {
      void ask("a", "act", category);
      answer("category");
      expect(granted("a")).toEqual([]);
      answer("refuse");
    }
  });

  test("refuse reports that it was the user", async () => {
    const first = ask("a");
    answer("refuse");
    expect(await first.answer).toEqual({ decision: "refuse", scope: "once", reason: "human" });
    expect(permissions.question).toBeUndefined();
  });

  test("to a question that is answered already changes nothing", async () => {
    const first = ask("a");
    const { id, actions } = permissions.question ?? { id: "", actions: [] };
    answer("refuse");
    void ask("a");
    permissions.answer(id, "session", actions);
    expect(await first.answer).toMatchObject({ decision: "refuse" });
    expect(granted("a")).toEqual([]);
    expect(shown()).toEqual(["a", 1]);
  });
});

describe("a client that joins", () => {
  test.each([
    ["connect", { decision: "allow", scope: "once" }],
    ["view", { decision: "view", scope: "once" }],
    ["refuse", { decision: "refuse", scope: "once", reason: "human" }],
  ] as const)("gets the answer %s", async (choice, result) => {
    const joins = ask("p", "connect");
    expect(choicesFor(permissions.question?.actions ?? [])).toEqual(["connect", "view", "refuse"]);
    expect(permissions.joining).toEqual([agent("p")]);
    for (const other of ["once", "session", "category"] as const) answer(other); // of actions only
    expect(shown()).toEqual(["p", 1]);
    answer(choice);
    expect(await joins.answer).toEqual(result);
    expect(permissions.joining).toEqual([]);
    expect(granted("p")).toEqual([]); // the coordinator keeps the answer
  });

  test("is not what an agent's action is answered by", () => {
    void ask("a");
    for (const choice of ["connect", "view"] as const) answer(choice);
    expect(shown()).toEqual(["a", 1]);
    expect(permissions.joining).toEqual([]);
  });
});

describe("many requests", () => {
  test("of one client are one question", async () => {
    const all = [ask("a", "one"), ask("a", "two"), ask("a", "three")];
    expect(shown()).toEqual(["a", 3]);
    answer("once");
    for (const each of all) expect((await each.answer).decision).toBe("allow");
    expect(permissions.waiting).toBe(0);
  });

  test("can be answered one by one; what came after the user looked is not answered with the rest", async () => {
    const all = ["one", "two", "three"].map((act) => ask("a", act));
    const acts = () => permissions.question?.actions.map(({ act }) => act);
    const { id = "", actions = [] } = permissions.question ?? {};
    const later = ask("a", "later");
    permissions.answer(id, "refuse", actions.slice(1, 2));
    expect((await all[1]?.answer)?.decision).toBe("refuse");
    expect(acts()).toEqual(["one", "three", "later"]);
    answer("once", 2);
    for (const each of [all[0], all[2]]) expect((await each?.answer)?.decision).toBe("allow");
    expect(acts()).toEqual(["later"]);
    const { id: last = "" } = permissions.question ?? {};
    permissions.answer(last, "once", actions); // they no longer wait
    expect(acts()).toEqual(["later"]);
    answer("refuse");
    expect((await later.answer).decision).toBe("refuse");
  });

  test("of several clients come one after the other, each with its whole time", async () => {
    const a = ask("a");
    const b = ask("b");
    expect(shown()).toEqual(["a", 1]);
    vi.advanceTimersByTime(limit - 1);
    answer("once");
    expect((await a.answer).decision).toBe("allow");
    expect(shown()).toEqual(["b", 1]);
    vi.advanceTimersByTime(limit - 1);
    expect(shown()).toEqual(["b", 1]);
    vi.advanceTimersByTime(1);
    expect(await b.answer).toEqual({ decision: "refuse", scope: "once", reason: "timeout" });
  });

  test("each change is reported", () => {
    const listener = vi.fn();
    permissions.subscribe(listener);
    void ask("a");
    void ask("a");
    void ask("b");
    expect(listener).toHaveBeenCalledTimes(3);
    answer("refuse");
    expect(listener).toHaveBeenCalledTimes(4);
  });
});

describe("nobody answers", () => {
  test("and it is refused when the time is over; what joined late has its own whole time", async () => {
    const first = ask("a", "first");
    vi.advanceTimersByTime(limit - 100);
    const second = ask("a", "second");
    expect(permissions.question?.until).toBe(performance.now() + limit);
    vi.advanceTimersByTime(100);
    expect((await first.answer).reason).toBe("timeout");
    expect(permissions.question?.actions.map(({ act }) => act)).toEqual(["second"]);
    vi.advanceTimersByTime(limit - 101);
    expect(shown()).toEqual(["a", 1]);
    vi.advanceTimersByTime(1);
    expect((await second.answer).reason).toBe("timeout");
    expect(permissions.question).toBeUndefined();
  });

  test("to one action, and once allows of the others only what the user saw", async () => {
    const first = ask("a");
    vi.advanceTimersByTime(limit - 1);
    const second = ask("a");
    const { id, actions } = permissions.question ?? { id: "", actions: [] };
    vi.advanceTimersByTime(1);
    expect((await first.answer).reason).toBe("timeout");
    const third = ask("a", "third");
    permissions.answer(id, "once", actions);
    expect((await second.answer).decision).toBe("allow");
    expect(permissions.question?.actions.map(({ act }) => act)).toEqual(["third"]);
    vi.advanceTimersByTime(limit - 1);
    expect(shown()).toEqual(["a", 1]);
    answer("refuse");
    expect((await third.answer).reason).toBe("human");
  });

  test("because the client has given up", async () => {
    const first = ask("a");
    const second = ask("a");
    first.giveUp.abort(new Error("cancelled"));
    await expect(first.answer).rejects.toThrow("cancelled");
    expect(shown()).toEqual(["a", 1]);
    second.giveUp.abort(new Error("cancelled"));
    await expect(second.answer).rejects.toThrow();
    expect(permissions.question).toBeUndefined();
  });

  test("because the client has left", async () => {
    const connection = new AbortController();
    const client = { id: "a", name: "Agent a", version: "1", kind: "mcp", since: 1 } as const;
    clients.announce(connection.signal, [client]);
    const granted = ask("a");
    answer("session");
    await granted.answer;
    clients.announce(connection.signal, []);
    clients.announce(connection.signal, [client]);
    const again = ask("a"); // a client that comes back is asked about again
    expect(shown()).toEqual(["a", 1]);
    connection.abort();
    expect(await again.answer).toMatchObject({ decision: "refuse" });
    expect(permissions.question).toBeUndefined();
  });
});

describe("while the user is asked", () => {
  test("full allows all that waits", async () => {
    const all = [ask("a"), ask("a"), ask("b")];
    setMode(store, "full");
    for (const each of all) expect((await each.answer).decision).toBe("allow");
    expect(permissions.question).toBeUndefined();
  });

  test("view refuses all that waits", async () => {
    const all = [ask("a"), ask("b")];
    setMode(store, "view");
    for (const each of all) expect(await each.answer).toMatchObject({ decision: "refuse", reason: "mode" });
  });

  test("stopping a client refuses what it waits for, and revokes what it was allowed", async () => {
    const first = ask("a");
    answer("session");
    await first.answer;
    stop(store, agent("a"));
    expect(granted("a")).toEqual([]);
    const [b, c] = [ask("b"), ask("c")];
    stop(store, agent("b"));
    expect(await b.answer).toMatchObject({ decision: "refuse", reason: "stopped" });
    expect(shown()).toEqual(["c", 1]);
    answer("once");
    expect((await c.answer).decision).toBe("allow");
  });

  test("one permission is revoked, and the others stay", async () => {
    const all = [ask("a", "click", "input"), ask("b", "click", "input")];
    answer("category");
    answer("category");
    await Promise.all(all.map((each) => each.answer));
    const scripts = ask("a", "run", "script");
    answer("category");
    await scripts.answer;
    expect(granted("a")).toEqual(["input", "script"]);
    const listener = vi.fn();
    permissions.subscribe(listener);
    permissions.revoke({ client: agent("a"), covers: "input" });
    expect(listener).toHaveBeenCalledTimes(1);
    expect([granted("a"), granted("b")]).toEqual([["script"], ["input"]]);
    const again = ask("a", "click", "input");
    expect(shown()).toEqual(["a", 1]);
    answer("session"); // covers what was allowed before
    await again.answer;
    expect(granted("a")).toEqual([everything]);
  });

  test("a change of the mode revokes what was allowed for the session", async () => {
    const first = ask("a");
    answer("session");
    await first.answer;
    setMode(store, "full");
    setMode(store, "ask");
    expect(granted("a")).toEqual([]);
  });
});

test("closing refuses what waits and leaves no timer", async () => {
  const all = [ask("a"), ask("b")];
  permissions.close();
  for (const each of all) expect((await each.answer).decision).toBe("refuse");
  expect(vi.getTimerCount()).toBe(0);
});
