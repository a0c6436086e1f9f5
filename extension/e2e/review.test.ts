// An agent shows a review in a real VS Code, and the user reads it.
// The tests form one story: they run in their order.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FrameLocator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { untilPresent } from "./support/files";
import { sampleReview } from "./support/review";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { openShop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { Workbench } from "./support/workbench";

const scene = setScene(
  "review",
  ({ folder }) => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30" fill="teal"/></svg>';
    writeFileSync(join(folder, "shot.svg"), svg);
    mkdirSync(join(folder, ".git", "hooks"), { recursive: true });
    writeFileSync(join(folder, ".vscode", "tasks.json"), "{}\n");
    for (const name of [".git/hooks/pre-commit", "../elsewhere.js"]) writeFileSync(join(folder, name), "one\n");
    symlinkSync(join(folder, "../elsewhere.js"), join(folder, "link.js"));
  },
  { "files.autoSave": "off" },
);
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

/** The window of a page, as far as it matters here. */
interface Styled {
  getComputedStyle(element: unknown): { backgroundColor: string; color: string };
}

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

test("what a review is made of is shown as such", async () => {
  const claude = { id: "c3", name: "Claude Code", version: "2.1.0" };
  await window.openFile("app.js");
  await listener.call("review.present", { client: claude, title: "Greeting", markdown: sampleReview, mode: "replace" });
  const review = window.webview("Greeting");
  await review.getByRole("table").waitFor();
  const colour = (kind: string) =>
    review
      .locator(`.${kind}`)
      .evaluate((line) => (globalThis as unknown as Styled).getComputedStyle(line).backgroundColor);
  const [added, removed] = [await colour("added"), await colour("removed")];
  expect(added).toMatch(/^rgba?\((?!0, 0, 0, 0\))/);
  expect(removed).not.toBe(added);
  await window.tab("Greeting").click({ button: "middle" }); // closes it
  await window.tab("Greeting").waitFor({ state: "detached" });
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
});

test("a link opens the file at its line", async () => {
  await panel().getByRole("link", { name: "the page" }).click();
  await window.page.locator(".tab.active", { hasText: "index.html" }).waitFor();
  await window.page.locator(".statusbar-item", { hasText: "Ln 11, Col 1" }).waitFor();
});

test("a link that leads to no file makes no link of its name in the notification", async () => {
  const markdown = "[nowhere](%5Bnowhere%5D%28command:workbench.action.files.newUntitledFile%29)";
  await listener.call("review.present", { client, title: "Links", markdown, mode: "replace" });
  await window.webview("Links").getByRole("link", { name: "nowhere" }).click();
  const notification = window.page.locator(".notification-toast", { hasText: "cannot be opened" });
  await notification.waitFor();
  expect(await notification.locator("a", { hasText: "nowhere" }).count()).toBe(0);
  await window.tab("Links").click({ button: "middle" });
  await window.tab("Links").waitFor({ state: "detached" });
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
  // In the panel's own group, above it; by the mouse, as the panel has the keyboard.
  await window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "app.js" }).click();
  await window.page.locator("iframe.webview").waitFor({ state: "hidden" });
  await window.reload();
  await listener.client.end(20_000); // the former extension host's socket goes first
  listener.close();
  await untilPresent(scene.address);
  await dial();
  const update = { client, title: "Cart", markdown: "Greener.", mode: "update-section", section: "Tests" };
  expect(await listener.call("review.present", update)).toEqual({ shown: true });
  await panel().getByText("Greener.").waitFor();
  await panel().getByText("After the reload.").waitFor();
  await expect.poll(() => window.tab("Cart").count()).toBe(1);
  await window.screenshot("review-behind");
});

test("the same agent, restarted, goes on in the panel of its former session", async () => {
  const again = { ...client, id: "a2", version: "2" };
  await listener.call("review.present", { client: again, title: "Cart", markdown: "Once more.", mode: "append" });
  await panel().getByText("Once more.").waitFor();
  await panel().getByText("Greener.").waitFor();
  expect(await panel().locator("#author").textContent()).toBe("From E2E agent 2");
  expect(await window.tab("Cart").count()).toBe(1);
});

test("another client's review of the same title is another tab, which names its client", async () => {
  const other = { id: "b2", name: "Other agent", version: "2" };
  await listener.call("review.present", { client: other, title: "Cart", markdown: "Mine.", mode: "replace" });
  await window.webview("Cart (Other agent 2)").getByText("Mine.").waitFor();
  await window.page.locator(".tab", { has: window.page.getByText("Cart", { exact: true }) }).click();
  await panel().getByText("Greener.").waitFor();
});

const proposal = `# Thanks

[Approve](#approve "Approve") **The answer** is text now.

\`\`\`diff
--- a/app.js
+++ b/app.js
@@ -4,2 +4,2 @@
   const answer = document.querySelector("#answer");
-  answer.textContent = "Thank you";
+  answer.textContent = "Thanks a lot";
\`\`\`
`;

test("with the keyboard alone the user comments on a line and requests changes; the agent gets it", async () => {
  const agent = await Agent.start(thisRun(), scene.shop.folder);
  try {
    const asked = agent.use("present_review", { title: "Thanks", markdown: proposal, wait: 120 });
    const review = window.webview("Thanks");
    await review.getByText("e2e-agent 1.0.0 waits for your answer.").waitFor();
    await window.page.locator(".statusbar-item", { hasText: "waits for your answer to “Thanks”" }).waitFor();
    // What the text calls Approve is a link that approves nothing.
    expect(await review.getByRole("button", { name: "Approve", exact: true }).count()).toBe(1);
    await review.getByRole("link", { name: "Approve" }).click();
    await review.getByText("e2e-agent 1.0.0 waits for your answer.").waitFor();

    await review.getByRole("button", { name: "Request Changes" }).focus();
    await window.press("Enter");
    await review.getByRole("alert").getByText("Write what should change, or comment on a line.").waitFor();
    await review.getByRole("button", { name: "Comment on Thanks" }).focus();
    await window.press("End");
    await window.press("Enter");
    await window.page.keyboard.type("A lot of what?");
    await window.screenshot("review-comment");
    await window.press("Escape");
    const line = review.getByRole("button", { name: /^Comment on line 5: \+ answer/ });
    await expect.poll(() => line.evaluate("document.activeElement.dataset.number")).toBe("5");
    while ((await line.evaluate("document.activeElement.id")) !== "text") await window.press("Tab");
    await window.page.keyboard.type("Nearly.");
    while ((await line.evaluate("document.activeElement.id")) !== "changes") await window.press("Tab");
    await window.press("Enter");
    expect(await asked).toContain(`The user requests changes.
Nearly.
- app.js:5 "+  answer.textContent = \\"Thanks a lot\\";": A lot of what?`);
    await review.getByText("You requested changes. e2e-agent 1.0.0 has your answer.").waitFor();

    // The next text begins without it; a comment that is being written stays with its line.
    await agent.use("present_review", { title: "Thanks", markdown: `New.\n\n${proposal}` });
    await review.getByText("e2e-agent 1.0.0 gets your answer when it asks.").waitFor();
    expect(await review.locator(".note").count()).toBe(0);
    await line.click();
    await window.page.keyboard.type("Better");
    await agent.use("present_review", { title: "Thanks", markdown: "Last.", mode: "append" });
    await review.getByText("Last.").waitFor();
    await window.page.keyboard.type(" now");
    await review.getByText("Comments: 1").waitFor();
    listener.close();
    await window.reload();
    await review.getByText("Comments: 1").waitFor();
    await dial();
    await window.screenshot("review-draft");
    await expect
      .poll(async () => {
        await review.getByRole("button", { name: "Approve", exact: true }).click();
        return review.locator("#status").textContent();
      })
      .toBe("You approved this. e2e-agent 1.0.0 gets your answer when it asks.");
    expect(await agent.use("present_review", { title: "Thanks", wait: 60 })).toContain(
      'The user approves the review.\n- app.js:5 "+  answer.textContent = \\"Thanks a lot\\";": Better now\n' +
        "Not applied: app.js:5.",
    );
    await window.tab("Thanks").click({ button: "middle" });
  } finally {
    await agent.close();
  }
});

const fitting = `--- a/app.js
+++ b/app.js
@@ -1,3 +1,3 @@
-const name = document.getElementById("name");
+const name = document.querySelector("#name");
 const answer = document.getElementById("answer");
 
@@ -5,3 +5,4 @@
   const thanks = \`Thank you, \${name.value}\`;
+  // As text: a name may look like HTML.
   console.log(thanks);
   answer.textContent = thanks;
`;

/** A diff of one line that reads \`one\`. */
function change(file: string): string {
  return `\`\`\`diff\n--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-one\n+two\n\`\`\`\n\n`;
}

test("Apply changes files where the lines match, unsaved and as one change; code has colours", async () => {
  const { folder } = scene.shop;
  const refused: [string, string][] = [
    ["../../.ssh/config", "not a path below a folder"],
    ["/etc/hosts", "not a path below a folder"],
    ["link.js", "leads out of the folder"],
    [".vscode/tasks.json", "configures programs"],
    [".git/hooks/pre-commit", "configures programs"],
    ["app.js", "does not have the lines"],
    ["none.js", "There is no file none.js"],
  ];
  const js = 'if (true) greet("Ada"); // later\n';
  const code = `\`\`\`diff\n${fitting}\`\`\`\n\n\`\`\`js\n${js}\`\`\`\n\n`;
  const markdown = code + refused.map(([file]) => change(file)).join("");
  await listener.call("review.present", { client, title: "Changes", markdown, mode: "replace" });
  const review = window.webview("Changes");
  const result = (index: number) => review.locator(".result").nth(index);
  const colour = (kind: string) =>
    review
      .locator(`.token-${kind}`)
      .first()
      .evaluate((span) => (globalThis as unknown as Styled).getComputedStyle(span).color);
  expect(new Set(await Promise.all(["kwd", "str", "cmnt", "bool"].map(colour))).size).toBe(4);
  await review.getByRole("button", { name: "Copy" }).nth(1).click();
  await window.page.locator(".statusbar-item", { hasText: "Copied" }).waitFor();

  const contents = () =>
    ["app.js", ...refused.slice(2, 5).map(([file]) => file)].map((file) => readFileSync(join(folder, file), "utf8"));
  const before = contents();
  await review.getByRole("button", { name: "Apply to app.js" }).first().click();
  await result(0).getByText("Changed: app.js.").waitFor();
  const editor = window.page.locator(".monaco-editor", { hasText: "As text: a name" });
  await editor.locator(".view-line", { hasText: "querySelector" }).waitFor();
  const unsaved = window.page.locator(".tab.dirty", { hasText: "app.js" }); // in each group that has it
  await unsaved.first().waitFor();
  await window.screenshot("review-applied");
  await review.getByRole("button", { name: "Apply to app.js" }).first().click();
  await result(0).getByText("Nothing was changed. app.js does not have the lines that it changes.").waitFor();

  for (const [index, [file, why]] of refused.entries()) {
    await review.locator(`[aria-label="Apply to ${file}"]`).last().click();
    await result(index + 1)
      .getByText(`Nothing was changed.`)
      .getByText(why)
      .waitFor();
  }
  expect(contents()).toEqual(before);
  const applied = async () => {
    const { diffs } = await listener.call("review.wait", { client, title: "Changes", seconds: 0.01 });
    return (diffs as { file: string; applied: boolean }[]).filter((each) => each.applied);
  };
  expect(await applied()).toMatchObject([
    { file: "app.js", from: 1, to: 1 },
    { file: "app.js", from: 6, to: 6 },
  ]);

  await editor.locator(".view-line", { hasText: "querySelector" }).click();
  await window.press("Control+z"); // all of it at once
  await expect.poll(() => unsaved.count()).toBe(0);
  for (const text of ["querySelector", "As text"]) {
    await expect.poll(() => window.page.locator(".view-line", { hasText: text }).count()).toBe(0);
  }
  await expect.poll(applied).toEqual([]);
  expect(await window.pasted()).toBe(js.trim());
});

test("a picture of a folder that was opened by a link is shown by its canonical path too", async () => {
  const run = thisRun();
  const market = await openShop(run, "market");
  const link = join(run.root, "market-link");
  symlinkSync(market.folder, link);
  writeFileSync(join(market.folder, "shot.svg"), readFileSync(join(scene.shop.folder, "shot.svg")));
  const address = await addressOf(run, market.folder);
  const second = await Workbench.open(run, scene.screen, `folder=${link}`);
  await untilPresent(address);
  const its = await Listener.dial(address);
  try {
    const markdown = `![by its name](shot.svg) ![by its path](${join(market.folder, "shot.svg")})`;
    await its.call("review.present", { client, title: "Linked", markdown, mode: "replace" });
    for (const name of ["by its name", "by its path"]) {
      const picture = second.webview("Linked").getByRole("img", { name });
      await expect
        .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
        .toBe(90);
    }
  } finally {
    its.close();
    await second.close();
    await market.close();
  }
});
