// What nearly every test file begins with: a shop, a VS Code window on it, and a screen that shows the window.
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { untilAbsent, untilPresent } from "./files";
import { thisRun } from "./run";
import { openShop, type Shop } from "./shop";
import { addressOf } from "./socket";
import { openScreen, Workbench } from "./workbench";

export interface Scene {
  screen: BrowserContext;
  shop: Shop;
  /** The window's socket, which exists. */
  address: string;
  window: Workbench;
}

/**
 * Sets the scene before the file's tests, and takes it away after them; of a test that fails it keeps a
 * picture. Its members are set in the file's own hooks and tests. `prepare` has the shop before the window
 * is opened.
 */
export function setScene(
  name: string,
  prepare: (shop: Shop) => void = () => {},
  settings: Record<string, unknown> = {},
): Scene {
  const scene = {} as Scene;
  const run = thisRun();
  beforeAll(async () => {
    scene.screen = await openScreen(run);
    scene.shop = await openShop(run, name, settings);
    prepare(scene.shop);
    scene.address = await addressOf(run, scene.shop.folder);
    scene.window = await Workbench.open(run, scene.screen, `folder=${scene.shop.folder}`);
    await untilPresent(scene.address);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await scene.window.screenshot(`failed ${task.name}`);
  });
  afterAll(async () => {
    await scene.window?.close();
    if (scene.window) await untilAbsent(scene.address); // else the next file's coordinator may find the window
    await scene.screen?.close();
    await scene.shop?.close();
  });
  return scene;
}
