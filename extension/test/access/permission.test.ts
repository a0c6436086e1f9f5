// Who asks, what the user is asked, and the result of each answer. Time is vitest's.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accessCommands, resume, setMode, stop } from "../../src/core/access/access";
import { askedNodes } from "../../src/core/access/actions";
import { type Choice, choicesFor, everything, Permissions, permissionCommands } from "../../src/core/access/permission";
import { Recordings } from "../../src/core/access/record";
import type { PermissionAskResult, PermissionListResult } from "../../src/core/protocol/protocol.generated";
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

const [shop, bank] = ["http://shop.test", "https://shop.test"];

/** Without an origin: "". */
function ask(id: string, act = "browser_click", category?: string, origin = shop): Asking {
  const giveUp = new AbortController();
  const site = origin !== "" && { origin };
  const arg = { client: agent(id), act, detail: "", ...(category !== undefined && { category }), ...site };
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
    expect(await ask("a").answer).toEqual({ decision: "allow", reason: "mode" });
  });

  test("view refuses", async () => {
    setMode(store, "view");
    expect(await ask("a").answer).toEqual({ decision: "refuse", reason: "mode" });
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
    expect(await first.answer).toEqual({ decision: "allow", reason: "human" });
    void ask("a");
    expect(shown()).toEqual(["a", 1]);
  });

  test("for the session is remembered for this client, and no other", async () => {
    const first = ask("a");
    answer("session");
    expect(await first.answer).toEqual({ decision: "allow", reason: "human" });
    expect(await ask("a").answer).toEqual({ decision: "allow", reason: "grant", covers: "*" });
    void ask("b");
    expect(shown()).toEqual(["b", 1]);
  });

  test("for a category is remembered for this client, and other actions are asked about", async () => {
    const all = [ask("a", "click", "input"), ask("a", "type", "input"), ask("a", "open", "navigation")];
    answer("category"); // they are not of one kind: it was not offered
    expect(shown()).toEqual(["a", 3]);
    answer("category", 1);
    for (const each of all.slice(0, 2)) expect(await each.answer).toEqual({ decision: "allow", reason: "human" });
    expect(shown()).toEqual(["a", 1]);
    expect(await ask("a", "drag", "input").answer).toEqual({
      decision: "allow",
      reason: "grant",
      covers: "input",
    });
    expect(granted("a")).toEqual(["input"]);
    void ask("a", "drag");
    void ask("b", "click", "input");
    expect(shown()).toEqual(["a", 2]);
    expect(permissions.waiting).toBe(2);
  });

  test.each(["session", "category"] as const)(
    "for a %s is on one origin, and does not follow to another",
    async (choice) => {
      const [here, there] = [ask("a", "click", "input"), ask("a", "click", "input", bank)];
      expect(choicesFor(permissions.question?.actions ?? [])).toEqual(["once", "refuse"]); // on two origins
      answer(choice);
      expect(shown()).toEqual(["a", 2]);
      answer(choice, 1);
      expect((await here.answer).decision).toBe("allow");
      expect((await ask("a", "click", "input").answer).decision).toBe("allow");
      expect(shown()).toEqual(["a", 1]); // the other one still waits
      void ask("a", "click", "input", "");
      answer("refuse");
      expect(await there.answer).toMatchObject({ reason: "human" });
      expect(permissions.grants.map(({ origin }) => origin)).toEqual([shop]);
      expect((await ask("a", "click", "input").answer).decision).toBe("allow"); // and it is still allowed here
    },
  );

  test("for the session is not offered where there is no origin, nor is a kind that is on a site", () => {
    for (const category of ["input", "navigation", "script", undefined]) {
      void ask("a", "act", category, "");
      expect(choicesFor(permissions.question?.actions ?? [])).toEqual(["once", "refuse"]);
      for (const choice of ["session", "category"] as const) answer(choice);
      expect(shown()).toEqual(["a", 1]);
      answer("refuse");
    }
  });

  test.each(["storage", "debugger"])(
    "for %s is for that kind alone, and not by all that is allowed on a site",
    async (kind) => {
      const click = ask("a");
      answer("session");
      await click.answer;
      const first = ask("a", "act", kind, "");
      expect(choicesFor(permissions.question?.actions ?? [])).toEqual(["once", "category", "refuse"]);
      answer("session");
      expect(shown()).toEqual(["a", 1]);
      answer("category");
      await first.answer;
      expect((await ask("a", "act", kind, "").answer).decision).toBe("allow");
      expect(permissions.grants.map(({ covers, origin }) => [covers, origin])).toEqual([
        [everything, shop],
        [kind, undefined],
      ]);
    },
  );

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
    expect(await first.answer).toEqual({ decision: "refuse", reason: "human" });
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
    ["connect", { decision: "allow", reason: "human" }],
    ["view", { decision: "view" }],
    ["refuse", { decision: "refuse", reason: "human" }],
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
    expect(await b.answer).toEqual({ decision: "refuse", reason: "timeout" });
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
    permissions.revoke({ client: agent("a"), covers: "input", origin: bank });
    expect(granted("a")).toEqual(["input", "script"]);
    permissions.revoke({ client: agent("a"), covers: "input", origin: shop });
    expect(listener).toHaveBeenCalledTimes(2);
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

  test.each([
    ["the request for a tab of the user's own browser", "tab.request"],
    ["recording the user", "browser_record_user"],
  ])("no mode and no permission for a session covers %s", async (_, act) => {
    const first = ask("a");
    answer("session");
    await first.answer;
    for (const mode of ["ask", "full", "view"] as const) {
      setMode(store, mode);
      const asked = ask("a", act);
      expect(shown()).toEqual(["a", 1]);
      expect(choicesFor(permissions.question?.actions ?? [])).toEqual(["once", "refuse"]);
      answer("once");
      expect((await asked.answer).decision).toBe("allow");
    }
  });

  test.each([
    ["full", "allow"],
    ["view", "refuse"],
  ] as const)("a change to %s answers no request for a tab, and the rest of its question", async (mode, decision) => {
    const [click, gone] = [ask("a"), new AbortController()];
    const settled = vi.fn();
    void permissions.askForTab(agent("a"), undefined, new AbortController().signal).then(settled);
    const alone = permissions.askForTab(agent("b"), undefined, gone.signal);
    const before = permissions.question?.id;
    setMode(store, mode);
    expect((await click.answer).decision).toBe(decision);
    expect(permissions.waiting).toBe(2);
    expect(permissions.question?.client.id).toBe("b");
    gone.abort();
    await expect(alone).rejects.toThrow();
    expect(shown()).toEqual(["a", 1]);
    expect(permissions.question?.id).not.toBe(before); // so no key for the click answers it
    expect(settled).not.toHaveBeenCalled();
    answer("refuse");
    await vi.waitFor(() => expect(settled).toHaveBeenCalledWith(expect.objectContaining({ reason: "human" })));
  });

  test("a request that is left of a question goes when its client no longer waits", async () => {
    const [click, second] = [ask("a"), ask("a")];
    answer("once", 1);
    await click.answer;
    second.giveUp.abort();
    await expect(second.answer).rejects.toThrow();
    expect(permissions.question).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("in another browser everything is asked about again", async () => {
    const first = ask("a");
    answer("session");
    await first.answer;
    permissions.revokeAll();
    const again = ask("a");
    expect(shown()).toEqual(["a", 1]);
    answer("once");
    expect((await again.answer).decision).toBe("allow");
  });
});

test("closing refuses what waits and leaves no timer", async () => {
  const all = [ask("a"), ask("b")];
  permissions.close();
  for (const each of all) expect((await each.answer).decision).toBe("refuse");
  expect(vi.getTimerCount()).toBe(0);
});

describe("the page of coordinator show", () => {
  const { signal } = new AbortController();
  const caller = { signal, connection: signal, peer: undefined };
  let recordings: Recordings;
  beforeEach(() => {
    recordings = new Recordings(store, () => new Promise(() => {}));
  });
  const call = (name: string, arg: object = {}) => {
    const commands = new Map([...permissionCommands(permissions, recordings), ...accessCommands(store)]);
    return commands.get(name)?.run(arg, caller);
  };

  test("lists recordings too, and ends the one that the user chooses", async () => {
    const show = (message: string) =>
      recordings.command.run({ client: agent("a"), message, seconds: 60 }, caller) as Promise<unknown>;
    const [tea, cake] = [show("Order tea"), show("Order cake")];
    const listed = async () => ((await call("permission.list")) as PermissionListResult).questions;
    const [first, second] = await listed();
    expect(first?.actions[0]?.action).toEqual({ client: agent("a"), act: "record.show", detail: "Order tea" });
    expect(first?.choices).toEqual(["refuse"]);
    await expect(call("permission.answer", { question: second?.id, choice: "once", last: 1 })).rejects.toThrow();
    expect(await listed()).toEqual([first, second]);
    await call("permission.answer", { question: second?.id, choice: "refuse", last: 1 });
    expect(await cake).toEqual({ outcome: "ended" });
    expect(await listed()).toEqual([first]);
    await call("permission.answer", { question: first?.id, choice: "refuse", last: 1 });
    expect(await tea).toEqual({ outcome: "ended" });
    expect(await listed()).toEqual([]);
  });

  test("takes no question for a recording", async () => {
    const asked = { client: agent("a"), act: "record.show", detail: "Order tea" };
    await expect(call("permission.ask", asked)).rejects.toThrow("record.show");
    expect(permissions.question).toBeUndefined();
  });

  test("lists the elements that an action is on", async () => {
    const node = { target: "page", document: "loader", id: 7 };
    const arg = { client: agent("a"), act: "browser_click", detail: "Click", nodes: [node] };
    const result = call("permission.ask", arg);
    const { questions } = (await call("permission.list")) as PermissionListResult;
    expect(questions[0]?.actions[0]?.action).toEqual(arg);
    expect(askedNodes(permissions.question?.actions ?? [])).toEqual([node]);
    await call("permission.answer", { question: questions[0]?.id, choice: "refuse", last: Number.MAX_SAFE_INTEGER });
    expect(await result).toMatchObject({ decision: "refuse" });
  });

  test("lists the question, and answers it for the actions that the user has read", async () => {
    expect(await call("permission.list")).toEqual({ questions: [] });
    const [first, second] = [ask("a", "browser_click", "input"), ask("a", "browser_navigate", "navigation")];
    const { id } = permissions.question ?? {};
    const action = (act: string, category: string) => ({ client: agent("a"), act, detail: "", category, origin: shop });
    expect(await call("permission.list")).toEqual({
      questions: [
        {
          id,
          client: agent("a"),
          actions: [
            { number: 1, action: action("browser_click", "input") },
            { number: 2, action: action("browser_navigate", "navigation") },
          ],
          choices: ["once", "session", "refuse"],
        },
      ],
    });
    for (const answer of [
      { question: "another", choice: "once", last: 2 },
      { question: "another", choice: "refuse", last: 2 },
      { question: id, choice: "connect", last: 2 },
      { question: id, choice: "once", last: 0 },
    ]) {
      await expect(call("permission.answer", answer)).rejects.toThrow("no such question waits");
    }
    expect(shown()).toEqual(["a", 2]);
    await expect(call("permission.answer", { question: id, choice: "always", last: 2 })).rejects.toThrow();
    await call("permission.answer", { question: id, choice: "once", last: 1 });
    expect(await first.answer).toEqual({ decision: "allow", reason: "human" });
    expect(shown()).toEqual(["a", 1]);
    await call("permission.answer", { question: permissions.question?.id, choice: "refuse", last: 2 });
    expect(await second.answer).toMatchObject({ decision: "refuse", reason: "human" });
  });

  test("changes the mode, stops and resumes a client, and takes over the browser", async () => {
    await call("access.change", { mode: "view", stop: "Agent a" });
    expect(store.state.access).toEqual({ mode: "view", stopped: ["Agent a"] });
    await call("access.change", { resume: "Agent a" });
    expect(store.state.access).toEqual({ mode: "view", stopped: [] });
    await call("access.change", { takenOver: true });
    await call("access.change", { stop: "Agent a" });
    await call("access.change", { mode: "ask", resume: "Agent a" });
    expect(store.state.access).toEqual({ mode: "ask", stopped: [], takenOver: true });
    await call("access.change", { mode: "view", takenOver: false });
    expect(store.state.access).toEqual({ mode: "view", stopped: [] });
    await expect(call("access.change", { mode: "everything" })).rejects.toThrow();
    await expect(call("access.change", { takenOver: "yes" })).rejects.toThrow();
    expect(store.state.access.mode).toBe("view");
  });
});
