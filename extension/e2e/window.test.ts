// The window's life in a real VS Code: found, reported with its browser, cleared, gone.
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { status } from "./support/coordinator";
import { untilAbsent, untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
let screen: BrowserContext;
let shop: Shop;

beforeAll(async () => {
  screen = await openScreen(run);
  shop = await openShop(run, "shop");
});

afterAll(async () => {
  await screen?.close();
  await shop?.close();
});

test("F5 pushes the browser's endpoint, stopping clears it, closing the window removes its socket", async () => {
  const address = await addressOf(run, shop.folder);
  const window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  const listener = await Listener.dial(address);
  expect(listener.first).toMatchObject({ debugSessions: [], browser: null, pages: [] });
  await window.status.waitFor();

  await window.press("F5");
  const running = await listener.debugging((state) => state.browser !== null);
  expect(running.browser).toMatchObject({
    via: "injected",
    url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:[0-9]+\/devtools\/browser\//),
  });
  expect(running.debugSessions[0]).toMatchObject({ name: "Shop", type: "pwa-chrome" });
  expect(running.browser?.debugSession).toBe(running.debugSessions[0]?.id);
  await window.screenshot("window-debugging");

  await window.stop();
  const stopped = await listener.until((state) => state.browser === null && state.debugSessions.length === 0);
  expect(stopped.pages).toEqual([]);

  await window.close();
  await untilAbsent(address);
  const last = await listener.client.until(({ type }) => type === "bye");
  expect(last).toMatchObject({ payload: { reason: "shutdown" } });
  listener.close();
});

test("the status names an agent, and what it did last in the debug browser", async () => {
  const address = await addressOf(run, shop.folder);
  const window = await Workbench.open(run, screen, `folder=${shop.folder}`);
  await untilPresent(address);
  const listener = await Listener.dial(address);
  await window.press("F5");
  await listener.debugging((state) => state.browser !== null);
  const agent = await Agent.start(run, shop.folder);
  try {
    await agent.use("browser_wait_for", { text: "Your name" });
    await agent.use("browser_type", { target: "#name", text: "Ada Lovelace" });
    const listed = async () => (await status(run)).windows.find(({ workspace }) => workspace === shop.folder);
    await expect.poll(listed).toMatchObject({
      kind: "vscode",
      access: "full",
      browser: { via: "injected" },
      endpoint: { served: true, program: "coordinator mcp" },
      clients: [
        {
          name: "e2e-agent",
          version: "1.0.0",
          kind: "mcp",
          stopped: false,
          last: { text: expect.stringMatching(/^browser_type /) },
        },
      ],
    });
    expect(JSON.stringify(await listed())).not.toContain("Ada");
  } finally {
    await agent.close();
  }
  await expect.poll(async () => (await status(run)).windows[0]?.clients).toEqual([]);
  listener.close();
});
