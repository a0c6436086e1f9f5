// What the user decides, in Activity. How its rows look is in activity.test.ts.
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { resume, setMode, setTakenOver, stop } from "../../src/core/access/access";
import { Permissions } from "../../src/core/access/permission";
import { UserActs } from "../../src/core/access/useracts";
import { Clients } from "../../src/core/window/clients";
import { Store } from "../../src/core/window/store";

const client = { id: "c", name: "Agent", version: "1" };
let store: Store;
let clients: Clients;
let acts: UserActs;
let permissions: Permissions;

beforeEach(() => {
  store = new Store();
  clients = new Clients();
  acts = new UserActs(store, clients);
  setMode(store, "ask");
  permissions = new Permissions(store, clients, () => 60_000);
  clients.clear();
  onTestFinished(() => {
    permissions.close();
    acts.pause();
  });
});

const listed = () => clients.actions.map(({ act }) => act);

/** An agent asks, and the user answers. */
function answer(choice: Parameters<Permissions["answer"]>[1], act = "browser_click"): void {
  const place = act === "connect" ? {} : { category: "input", origin: "http://shop.test" };
  const asked = { client, act, detail: "click", ...place };
  void permissions.ask(asked, new AbortController().signal);
  const { id = "", actions = [] } = permissions.question ?? {};
  expect(permissions.answer(id, choice, actions)).toBe(true);
}

test("the mode, whom the user stops and resumes, and when they take over", () => {
  setMode(store, "view");
  stop(store, { name: "Agent" }, { name: "Other" });
  resume(store, { name: "Agent" });
  setTakenOver(store, true);
  setTakenOver(store, false);
  store.set({ debugSessions: [] });
  expect(listed()).toEqual([
    "Mode changed: Agents can only view",
    "Stopped Agent",
    "Stopped Other",
    "Resumed Agent",
    "Took over the browser",
    "Gave back the browser",
  ]);
});

test("what the window restores was decided before", () => {
  acts.pause();
  setMode(store, "view");
  acts.resume();
  stop(store, { name: "Agent" });
  expect(listed()).toEqual(["Stopped Agent"]);
});

test("what the user allows for longer than an action, and revokes", () => {
  answer("once");
  answer("category");
  for (const grant of permissions.grants) permissions.revoke(grant);
  answer("session");
  answer("connect", "connect");
  answer("view", "connect");
  setMode(store, "full"); // with it ends what was allowed
  expect(listed()).toEqual([
    "Allowed Agent 1 for this session: Clicks and Typing on shop.test",
    "Revoked for Agent 1: Clicks and Typing on shop.test",
    "Allowed Agent 1 for this session: Everything on shop.test",
    "Let Agent 1 connect",
    "Let Agent 1 connect, to view only",
    "Mode changed: Agents can do everything",
  ]);
});
