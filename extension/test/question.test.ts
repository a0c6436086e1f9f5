// The questions of agents, in a played editor; the real one is in e2e/agentcontrols.test.ts.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setMode } from "../src/core/access/access";
import { Permissions } from "../src/core/access/permission";
import { Clients } from "../src/core/window/clients";
import { Store } from "../src/core/window/store";
import { showQuestions } from "../src/vscode/question";
import * as editor from "./support/editor";

const client = { id: "c", name: "Agent", version: "1" };
let permissions: Permissions;
let questions: { dispose(): void };

beforeEach(() => {
  vi.useFakeTimers();
  const store = new Store();
  setMode(store, "ask");
  permissions = new Permissions(store, new Clients(), () => 60_000);
  questions = showQuestions(permissions);
});

afterEach(() => {
  permissions.close();
  questions.dispose();
  vi.useRealTimers();
});

/** What is decided about an action; undefined while it waits. */
function ask(detail: string, origin: string | undefined = "http://shop.test"): { decision?: string } {
  const outcome: { decision?: string } = {};
  const never = new AbortController().signal;
  void permissions
    .ask({ client, act: "click", detail, ...(origin && { origin }) }, never)
    .then((result) => Object.assign(outcome, result));
  return outcome;
}

const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const press = (command: string) => editor.commands.executeCommand(`browserCoordinator.${command}`);

test("each report contains the whole question: the editor may drop all but the last one", async () => {
  ask("click A");
  await later(3_000);
  ask("click B");
  await later(3_000);
  const [notice] = editor.notices;
  const words = notice?.reports.map(({ message }) => /wants to act: (.*)\.$/.exec(message ?? "")?.[1]) ?? [];
  expect([...new Set(words)]).toEqual(["click A", "click A; click B"]);
  expect(words.length).toBeGreaterThan(6); // the bar fills
});

test("a long script is in an editor in full, until it is answered", async () => {
  const script = `run ${"nothing; ".repeat(500)}evil();\n${"nothing; ".repeat(500)}`;
  const asked = ask("click A");
  await later(1_000);
  expect(editor.shownTexts()).toEqual([]);
  ask(script);
  await later(1_000);
  expect(editor.shownTexts()).toEqual([script]);
  await press("refuse");
  await later(0);
  expect(asked.decision).toBe("refuse");
  expect(editor.shownTexts()).toEqual([]);
});

test.each(["allowOnce", "allowForSession", "refuse"])(
  "a question that has just appeared is not answered by %s",
  async (command) => {
    const asked = ask("click A");
    await later(499);
    await press(command);
    await later(0);
    expect(asked).toEqual({});
    await later(1);
    await press(command);
    await later(0);
    expect(asked.decision).toBeDefined();
  },
);

test("an action that has just joined a question, or has just been named, is not answered with it", async () => {
  const limit = 60_000;
  const first = ask("click A");
  await later(100);
  const [second, third, fourth] = [ask("click B"), ask("click C"), ask("click D")];
  await later(limit - 101); // A times out in the next moment, and then D is named
  await later(1);
  expect(first.decision).toBe("refuse");
  const last = ask("click E");
  await press("allowOnce");
  await later(0);
  expect([second.decision, third.decision, fourth.decision, last.decision]).toEqual([
    "allow",
    "allow",
    undefined,
    undefined,
  ]);
  await later(500);
  const late = ask("click F");
  await press("refuse");
  await later(0);
  expect([fourth.decision, last.decision, late.decision]).toEqual(["refuse", "refuse", undefined]);
});

test("the key that allows all on a site is there only while that is offered", async () => {
  const context = () => editor.contexts.get("browserCoordinator.canAllowForSession");
  ask("click A");
  await later(500);
  expect(context()).toBe(true);
  ask("click B", "");
  await later(500);
  expect(context()).toBe(false);
});

test("a second click or Enter does not answer the list that follows", async () => {
  const [first, second] = [ask("click A"), ask("click B")];
  await later(500);
  void press("answerQuestion");
  editor.lists[0]?.click("Refuse"); // the first of the clicks opened the list
  await later(500);
  expect(second).toEqual({});
  editor.lists[0]?.click("click A");
  await later(0);
  editor.lists[0]?.click("Allow Once");
  await later(500);
  expect(first).toEqual({});
  editor.lists[0]?.click("Allow Once");
  await later(0);
  expect(first.decision).toBe("allow");
  editor.lists[0]?.click("Refuse"); // of the list of what still waits
  await later(500);
  expect(second).toEqual({});
  editor.lists[0]?.click("Refuse");
  await later(0);
  expect(second.decision).toBe("refuse");
});
