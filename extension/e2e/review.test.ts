// An agent shows a review in a real VS Code, and the human reads it.
// The tests tell one story, in their order.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FrameLocator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setScene } from "./support/scene";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const scene = setScene("review", ({ folder }) => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30" fill="teal"/></svg>';
  writeFileSync(join(folder, "shot.svg"), svg);
});
const client = { id: "a1", name: "E2E agent", version: "1" };
let window: Workbench;
let listener: Listener;

const text = `# What changed

The button says [thank you](app.js#L5) by *name* now, see [the page](index.html:11).

\`\`\`diff
-  answer.textContent = "Thank you";
+  answer.textContent = thanks;
\`\`\`

![The shop](shot.svg) ![elsewhere](https://example.test/a.png) <b>bold</b>

## Tests

None yet.

## Open

- [x] names
- [ ] prices
`;

function panel(): FrameLocator {
  return window.webview("Cart");
}

async function dial(): Promise<void> {
  listener = await Listener.dial(scene.address);
}

beforeAll(async () => {
  ({ window } = scene);
  await dial();
});

afterAll(async () => {
  listener?.close();
});

test("it is shown beside the code, with its pictures and without what is not allowed", async () => {
  await window.openFile("app.js");
  expect(await listener.call("review.present", { client, title: "Cart", markdown: text, mode: "replace" })).toEqual({
    shown: true,
  });
  await panel().getByRole("heading", { name: "What changed" }).waitFor();
  expect(await panel().locator("#author").textContent()).toBe("From E2E agent 1");
  const picture = panel().getByRole("img", { name: "The shop" });
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(90);
  expect(await panel().locator("img").count()).toBe(1);
  expect(await panel().locator("b").count()).toBe(0);
  await window.picture("review", window.page.locator(".part.editor"));
});

test("a link opens the file at its line", async () => {
  await panel().getByRole("link", { name: "the page" }).click();
  await window.page.locator(".tab.active", { hasText: "index.html" }).waitFor();
  await window.page.locator(".statusbar-item", { hasText: "Ln 11, Col 1" }).waitFor();
});

test("a section is updated and text appended, in the same panel", async () => {
  const update = { client, title: "Cart", markdown: "All green.", mode: "update-section", section: "Tests" };
  await listener.call("review.present", update);
  await panel().getByText("All green.").waitFor();
  expect(await panel().getByText("None yet.").count()).toBe(0);
  await listener.call("review.present", { client, title: "Cart", markdown: "## Later\n\nMore.", mode: "append" });
  await panel().getByRole("heading", { name: "Later" }).waitFor();
  await expect(listener.call("review.present", { ...update, section: "Nothing" })).rejects.toThrow(
    'bad_payload: the review has no section "Nothing": there are "What changed", "Tests", "Open", "Later"',
  );
  const long = "x".repeat(1024 * 1024 + 1);
  await expect(
    listener.call("review.present", { client, title: "Cart", markdown: long, mode: "replace" }),
  ).rejects.toThrow("the limit is 1048576");
});

test("it survives a reload of the window, and can be added to after that", async () => {
  listener.close();
  await window.reload();
  await window.screenshot("review-reloaded");
  await panel().getByText("All green.").waitFor();
  await dial();
  await listener.call("review.present", { client, title: "Cart", markdown: "After the reload.", mode: "append" });
  await panel().getByText("After the reload.").waitFor();
  await panel().getByText("All green.").waitFor();
  expect(await window.page.locator(".tab", { hasText: "Cart" }).count()).toBe(1);
});

test("behind another tab it survives a reload too, and goes on in one tab", async () => {
  await window.tab("Cart").click();
  await window.openFile("app.js"); // in the panel's own group, above it
  await window.page.locator("iframe.webview").waitFor({ state: "hidden" });
  listener.close();
  await window.reload();
  await window.tab("Cart").waitFor();
  await dial();
  const update = { client, title: "Cart", markdown: "Greener.", mode: "update-section", section: "Tests" };
  expect(await listener.call("review.present", update)).toEqual({ shown: true });
  await panel().getByText("Greener.").waitFor();
  await panel().getByText("After the reload.").waitFor();
  await expect.poll(() => window.tab("Cart").count()).toBe(1);
  await window.screenshot("review-behind");
});

test("another client's review of the same title is another tab, which says whose it is", async () => {
  const other = { id: "b2", name: "Other agent", version: "2" };
  await listener.call("review.present", { client: other, title: "Cart", markdown: "Mine.", mode: "replace" });
  await window.webview("Cart (Other agent 2)").getByText("Mine.").waitFor();
  await window.page.locator(".tab", { has: window.page.getByText("Cart", { exact: true }) }).click();
  await panel().getByText("Greener.").waitFor();
});
