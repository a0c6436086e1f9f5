// An agent asks the user, in a real VS Code, to click an element. The click itself is the coordinator's
// to see.
import { afterAll, beforeAll, expect, test } from "vitest";
import { setScene } from "./support/scene";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const scene = setScene("pick");
const arg = {
  client: { id: "a1", name: "E2E agent", version: "1" },
  message: "Which button is too small?",
  seconds: 60,
};
let window: Workbench;
let listener: Listener;

function notice() {
  return window.page.locator(".notifications-toasts .notification-list-item", {
    hasText: "E2E agent 1 asks you to click",
  });
}

beforeAll(async () => {
  ({ window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  listener?.close();
});

test("a notification asks, and its Cancel is the answer", async () => {
  const outcome = listener.call("pick.start", arg);
  await notice().waitFor();
  expect(await notice().textContent()).toContain("Which button is too small?");
  await window.screenshot("pick");
  await notice().getByRole("button", { name: "Cancel" }).click();
  expect(await outcome).toEqual({ outcome: "cancelled" });
  await notice().waitFor({ state: "hidden" });
});

test("the notification goes when the agent has what it wants", async () => {
  listener.client.send({ id: "pick", type: "call", version: 2, payload: { command: "pick.start", arg } });
  await notice().waitFor();
  await listener.client.ask("cancel", { id: "pick" });
  await notice().waitFor({ state: "hidden" });
  expect(await listener.client.until(({ id }) => id === "pick")).toMatchObject({ error: { code: "cancelled" } });
});

test("the notification goes when the time is up", async () => {
  expect(await listener.call("pick.start", { ...arg, seconds: 2 })).toEqual({ outcome: "timeout" });
  await notice().waitFor({ state: "hidden" });
});
