// An agent asks the human, in a real VS Code, to click an element. The click itself is the coordinator's
// to see.
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { untilPresent } from "./support/files";
import { openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = inject("run");
const arg = {
  client: { id: "a1", name: "E2E agent", version: "1" },
  message: "Which button is too small?",
  seconds: 60,
};
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let listener: Listener;

function notice() {
  return window.page.locator(".notifications-toasts .notification-list-item", {
    hasText: "E2E agent 1 asks you to click",
  });
}

beforeAll(async () => {
  screen = await openScreen(run);
  shop = await openShop(run, "pick");
  const address = await addressOf(run, shop.folder);
  window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  listener = await Listener.dial(address);
});

afterAll(async () => {
  listener?.close();
  await screen?.close();
  await shop?.close();
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
