// The window reports the active editor, in a real VS Code.
// The tests form one story: they run in their order.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const scene = setScene("looking");
let shop: Shop;
let window: Workbench;
let listener: Listener;

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  listener?.close();
});

test("the file, the selection and whether it is saved", async () => {
  await window.openFile("app.js");
  const opened = await listener.until((state) => state.editor !== undefined);
  expect(opened.editor).toEqual({
    path: join(shop.folder, "app.js"),
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 1,
    dirty: false,
  });
  await window.press("ArrowDown");
  await window.press("Shift+End");
  const selected = await listener.until((state) => (state.editor?.endColumn ?? 0) > 1);
  expect(selected.editor).toMatchObject({ line: 2, column: 1, endLine: 2 });
  await window.press("End");
  await window.press("Space");
  expect((await listener.until((state) => state.editor?.dirty === true)).editor?.path).toBe(
    join(shop.folder, "app.js"),
  );
  await window.press("Control+s");
  await listener.until((state) => state.editor?.dirty === false);
});

test("a later client receives the editor that is active then", async () => {
  listener.close();
  await window.press("ArrowDown");
  await window.page.locator(".statusbar-item", { hasText: "Ln 3" }).waitFor();
  listener = await Listener.dial(scene.address);
  expect(listener.first.editor).toMatchObject({ path: join(shop.folder, "app.js") });
  await listener.until((state) => state.editor?.line === 3); // the extension is notified after the status bar
});

test("nothing where no file of the folder is in sight", async () => {
  await window.press("Control+w");
  await listener.until((state) => state.editor === undefined);
});

test("the user's setting turns it off, at once, and on", async () => {
  await window.openFile("index.html");
  await listener.until((state) => state.editor?.path === join(shop.folder, "index.html"));
  mkdirSync(join(shop.folder, ".vscode"), { recursive: true });
  const file = join(shop.folder, ".vscode", "settings.json");
  writeFileSync(file, JSON.stringify({ "browserCoordinator.shareEditor": false }));
  await listener.until((state) => state.editor === undefined);
  writeFileSync(file, "{}");
  await listener.until((state) => state.editor !== undefined);
});
