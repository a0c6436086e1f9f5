// What the user wants of agents as tests, until these give it.
import { expect, test } from "vitest";
import type { Caller } from "../../src/core/window/connection";
import { Store } from "../../src/core/window/store";
import { Tests, testCommands } from "../../src/core/window/tests";

test("the state has the agents whose test is wanted, until they give it or nobody waits", async () => {
  const store = new Store();
  const tests = new Tests(store);
  const [[, { run }]] = testCommands(tests) as [ReturnType<typeof testCommands>[number]];
  const give = (id: string, more: object) => run({ client: { id, name: "x", version: "" }, ...more }, {} as Caller);
  const [user, other] = [new AbortController(), new AbortController()];
  const wanted = [tests.request("a", user.signal), tests.request("a", other.signal)];
  const given = tests.request("b", user.signal);
  expect(store.state.tests).toEqual(["a", "b"]);
  other.abort(new Error("cancelled"));
  await expect(wanted[1]).rejects.toThrow("cancelled");
  expect(store.state.tests).toEqual(["a", "b"]); // the first one still waits
  await give("b", { problem: "nothing is recorded" });
  expect(await given).toEqual({ problem: "nothing is recorded" });
  await give("b", { code: "again" }); // nobody waits
  expect(store.state.tests).toEqual(["a"]);
  await give("a", { code: "test('x')" });
  expect(await wanted[0]).toEqual({ code: "test('x')" });
  expect(store.state).not.toHaveProperty("tests");
});
