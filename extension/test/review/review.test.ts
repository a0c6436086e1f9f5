// Reviews: what stands in them after each mode. The panel is played here; the real one is in
// e2e/review.test.ts.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silent } from "../../src/core/log";
import type { AnswerStatus, PanelAnswer, Review } from "../../src/core/review/answer";
import { type ReviewPanel, type ReviewPlace, Reviews, reviewLimit, storedReviews } from "../../src/core/review/review";
import { ReviewFiles } from "../../src/core/review/reviewfiles";
import type { Caller } from "../../src/core/window/connection";
import { temporaryFolder } from "../support/window";

const client = { id: "c", name: "Agent", version: "1" };

/** The editor: tabs by their labels. `kept` and `tabs` are what a reload has left. */
function play(kept: Review[] = [], tabs = new Set<string>()) {
  const here = new Set<string>();
  const shown: Review[] = [];
  const opened: string[] = [];
  const closers: (() => void)[] = [];
  const statuses: string[] = [];
  const waits: string[] = [];
  /** The user answers the newest review, or one that they saw before. */
  const answerers: ((given: PanelAnswer, seen: Review) => void)[] = [];
  const answer = (outcome: PanelAnswer["outcome"], text = "", comments: PanelAnswer["comments"] = [], seen?: Review) =>
    answerers.at(-1)?.({ outcome, text, comments }, seen ?? (shown.at(-1) as Review));
  /** The files of the window's folders. */
  const files = new Map<string, string>();
  const newPanel = (label: string): ReviewPanel => {
    const listeners: (() => void)[] = [];
    const close = () => {
      tabs.delete(label);
      for (const listener of listeners) listener();
    };
    closers.push(close);
    return {
      show: async (review: Review, { text }: AnswerStatus) => {
        shown.push(review);
        statuses.push(text);
      },
      status: ({ text }) => void statuses.push(text),
      reveal: () => {},
      onAnswer: (listener) => void answerers.push(listener),
      close,
      onClosed: (listener: () => void) => void listeners.push(listener),
    };
  };
  const onDisk = new Map(kept.map((review) => [review.id, review]));
  const place: ReviewPlace = {
    open(label) {
      opened.push(label);
      tabs.add(label);
      return newPanel(label);
    },
    has: (label) => tabs.has(label),
    stored: async () => [...onDisk.values()],
    keep: async (review) => void onDisk.set(review.id, review),
    forget: async ({ id }) => void onDisk.delete(id),
    readFile: async (file) => files.get(file),
    waits: (text) => void waits.push(text),
  };
  const reviews = new Reviews(place, (id) => here.has(id));
  const commands = new Map(reviews.commands);
  const never = new AbortController().signal;
  const caller: Caller = { signal: never, connection: never, peer: undefined };
  const present = (markdown: string, mode = "replace", section?: string, by = client, title = "Cart") => {
    here.add(by.id);
    return commands.get("review.present")?.run({ client: by, title, markdown, mode, section }, caller);
  };
  const wait = (seconds = 60, by = client, signal = never) => {
    here.add(by.id);
    return commands.get("review.wait")?.run({ client: by, title: "Cart", seconds }, { ...caller, signal });
  };
  const text = () => shown.at(-1)?.markdown;
  const status = () => statuses.at(-1);
  return {
    ...{ here, reviews, tabs, opened, shown, closers, onDisk, newPanel },
    ...{ present, text, wait, waits, answer, files, status },
  };
}

/** A window that was reloaded after a review was shown; its tab still exists. */
async function reloaded(markdown: string) {
  const before = play();
  await before.present(markdown);
  const [review] = before.shown as [Review];
  return { review, ...play([...before.onDisk.values()], before.tabs) };
}

test("replace, append and update-section, in one panel", async () => {
  const { present, text, opened } = play();
  expect(await present("# Cart\n\nold\n\n## Tests\n\nnone\n\n# Rest\n")).toEqual({ shown: true });
  await present("some", "update-section", "Tests");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nsome\n\n# Rest\n");
  await present("## Tests\n\nmany\n\n### More\n", "update-section", "## Tests");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nmany\n\n### More\n\n# Rest\n");
  await present("end", "append");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nmany\n\n### More\n\n# Rest\n\nend");
  await present("new");
  expect(text()).toBe("new");
  expect(opened).toEqual(["Cart"]);
});

test("a section that is not there is an error that names those that are", async () => {
  const { present, text } = play();
  await expect(present("x", "update-section", "Tests")).rejects.toThrow("it has none");
  await present("# A\n# B\n");
  await expect(present("x", "update-section", "Tests")).rejects.toMatchObject({
    code: "bad_payload",
    message: 'the review has no section "Tests": there are "A", "B"',
  });
  await expect(present("x", "update-section")).rejects.toMatchObject({ data: { path: "/payload/arg/section" } });
  expect(text()).toBe("# A\n# B\n");
});

test("what is over the limit is refused with the limit named, also when it grew", async () => {
  const { present, text } = play();
  await expect(present("ä".repeat(reviewLimit / 2 + 1))).rejects.toMatchObject({
    code: "bad_payload",
    message: expect.stringContaining("the limit is 1048576 (1 MiB)"),
  });
  await present("a".repeat(reviewLimit - 2));
  await expect(present("bc", "append")).rejects.toThrow("the limit is");
  expect(text()).toHaveLength(reviewLimit - 2);
});

test("a closed panel is forgotten, also by the disk", async () => {
  const { present, text, opened, closers, onDisk } = play();
  await present("a");
  expect(onDisk.size).toBe(1);
  closers[0]?.();
  expect(onDisk.size).toBe(0);
  await present("b", "append");
  expect(text()).toBe("b");
  expect(opened).toEqual(["Cart", "Cart"]);
});

test("what is presented at the same time is all there", async () => {
  const { present, text, opened } = play();
  expect(await Promise.all(["one", "two", "three"].map((each) => present(each, "append")))).toHaveLength(3);
  expect(text()).toBe("one\n\ntwo\n\nthree");
  expect(opened).toEqual(["Cart"]);
});

test("a client's review is its own, and the tab names the client where two have one title", async () => {
  const { present, shown, opened } = play();
  const [second, third] = ["d", "e"].map((id) => ({ ...client, id, name: "Other" }));
  await Promise.all([
    present("a"),
    present("b", "replace", undefined, second),
    present("c", "append", undefined, third),
  ]);
  expect(opened).toEqual(["Cart", "Cart (Other 1)", "Cart (Other 1, 2)"]);
  await present("more", "append");
  await present("more", "append", undefined, second);
  expect(shown.slice(-2).map(({ markdown }) => markdown)).toEqual(["a\n\nmore", "b\n\nmore"]);
  expect(opened).toHaveLength(3);
});

test("a restarted agent goes on in its panel, which shows its new version; two have one each", async () => {
  const { present, shown, opened, here } = play();
  const [again, third] = [
    { ...client, id: "d", version: "2" },
    { ...client, id: "e", version: "2" },
  ];
  await present("old");
  here.delete(client.id);
  await present("new", "append", undefined, again);
  expect(opened).toEqual(["Cart"]);
  expect(shown.at(-1)).toMatchObject({ label: "Cart", markdown: "old\n\nnew", client: again });
  await present("other", "replace", undefined, third);
  expect(opened).toEqual(["Cart", "Cart (Agent 2)"]);
  here.delete(again.id);
  await present("own", "replace", undefined, third);
  expect(shown.at(-1)).toMatchObject({ label: "Cart (Agent 2)", markdown: "own" });
  await present("not hers", "replace", undefined, { ...client, id: "f", name: "Other" });
  expect(opened.at(-1)).toBe("Cart (Other 1)");
});

test("after a reload one goes on that the editor brings back", async () => {
  const { review, reviews, newPanel, present, text, opened } = await reloaded("kept");
  await reviews.adopt(review, newPanel(review.label));
  expect(text()).toBe("kept");
  await present("more", "append");
  expect(text()).toBe("kept\n\nmore");
  expect(opened).toEqual([]);
});

test("after a reload one behind another tab goes on, and its old panel does not bring old text back", async () => {
  const { review, reviews, newPanel, present, text, opened, tabs, shown } = await reloaded("# Cart\n\nkept");
  await present("more", "update-section", "Cart");
  expect(text()).toBe("# Cart\n\nmore\n");
  expect(opened).toEqual(["Cart"]);
  let closed = false;
  const close = () => {
    closed = true;
  };
  const old = { ...newPanel(review.label), close };
  await reviews.adopt(review, old);
  expect(closed).toBe(true);
  expect(shown).toHaveLength(1);
  expect([...tabs]).toEqual(["Cart"]);
});

test("after a reload a tab's own text may be older than what was kept", async () => {
  const { review, reviews, newPanel, text } = await reloaded("kept");
  await reviews.adopt({ ...review, markdown: "older" }, newPanel(review.label));
  expect(text()).toBe("kept");
});

test("after a reload, what was kept of a tab that the user has closed, or of another window, is none", async () => {
  const { present, text, tabs } = await reloaded("kept");
  tabs.clear();
  await present("new", "append");
  expect(text()).toBe("new");
});

const diff = `Why

\`\`\`diff
--- a/cart.ts
+++ b/cart.ts
@@ -4,2 +4,2 @@
 const a = 1;
-const b = 2;
+const b = 3;
\`\`\`
`;

test("the client that waits gets the verdict, and the comments with the places that the review has", async () => {
  const { present, wait, answer, status, waits } = play();
  await present(diff);
  expect(status()).toBe("Agent 1 gets your answer when it asks.");
  const waiting = wait();
  await expect.poll(status).toBe("Agent 1 waits for your answer.");
  expect(waits).toEqual(["Agent 1 waits for your answer to “Cart”"]);
  answer("changes", "Nearly.", [
    { line: 1, quote: "a lie of the page", text: "Say more." },
    { line: 8, quote: "", text: "Why not?" },
    { line: 9, quote: "", text: "Four." },
    { line: 0, quote: "what was there", text: "I liked that." },
  ]);
  expect(await waiting).toEqual({
    outcome: "changes",
    text: "Nearly.",
    comments: [
      { line: 1, quote: "Why", text: "Say more." },
      { line: 8, quote: "-const b = 2;", file: "cart.ts", fileLine: 5, text: "Why not?" },
      { line: 9, quote: "+const b = 3;", file: "cart.ts", fileLine: 5, text: "Four." },
      { quote: "what was there", text: "I liked that." },
    ],
    diffs: [{ file: "cart.ts", from: 5, to: 5, applied: false }],
  });
  await expect.poll(status).toBe("You requested changes. Agent 1 has your answer.");
});

test("an answer without a wait is kept, over a reload too, until the client asks or shows a new text", async () => {
  const before = play();
  await before.present("text");
  before.answer("approved");
  await expect.poll(before.status).toBe("You approved this. Agent 1 gets your answer when it asks.");
  const after = play([...before.onDisk.values()], before.tabs);
  const again = { ...client, id: "d" };
  expect(await after.wait(60, again)).toEqual({ outcome: "approved" });
  expect(after.status()).toBe("You approved this. Agent 1 has your answer.");
  expect(await after.wait(60, again)).toEqual({ outcome: "approved" });
  expect(await after.present("next", "replace", undefined, again)).toEqual({ shown: true });
  expect(after.status()).toBe("Agent 1 gets your answer when it asks.");
  after.answer("changes", "No.");
  await expect.poll(after.status).toContain("You requested changes.");
  expect(await after.present("third", "replace", undefined, again)).toEqual({
    shown: true,
    answer: { outcome: "changes", text: "No." },
  });
});

test("what of the diffs is in the files is reported with each answer, as they are then, and without one", async () => {
  const block = (file: string, line: number) =>
    `\`\`\`diff\n--- ${file}\n+++ ${file}\n@@ -${line},3 +${line},4 @@\n same\n-a\n+b\n+c\n same\n\`\`\`\n`;
  const { present, wait, status, closers, files } = play();
  files.set("one.ts", "same\na\nsame\n");
  files.set("other.ts", `${"\n".repeat(9)}same\r\nb\r\nc\r\nsame\n`); // applied, and then two lines were added above
  await present(block("one.ts", 1) + block("other.ts", 8) + block("none.ts", 1));
  const diffs = (one: boolean) => [
    { file: "one.ts", from: 2, to: 3, applied: one },
    { file: "other.ts", from: 11, to: 12, applied: true },
    { file: "none.ts", from: 2, to: 3, applied: false },
  ];
  expect(await wait(0.01)).toEqual({ outcome: "timeout", diffs: diffs(false) });
  files.set("one.ts", "same\nb\nc\nsame\n");
  expect(await wait(0.01)).toEqual({ outcome: "timeout", diffs: diffs(true) });
  const closed = wait();
  await expect.poll(status).toContain("waits");
  files.set("one.ts", "same\na\nsame\n"); // undone
  closers[0]?.();
  expect(await closed).toEqual({ outcome: "closed", diffs: diffs(false) });
});

test.each([
  ["a removal", " x\n-gone\n y", "x\ny", "x\ngone\ny"],
  ["a removal without lines around it", "-gone", "x\ny", "x\ngone\ny"],
  ["an addition without lines around it", "+new", "x\nnew", "x\ny"],
  ["a line that the file has elsewhere", " x\n-a\n+b", "1\n2\nx\nb", "x\na\n1\nx\nb"],
  [
    "the end without a line break",
    " x\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
    "x\nb",
    "x\na",
  ],
])("%s is in the file or not", async (_, lines, applied, open) => {
  const { present, wait, files } = play();
  const count = (without: string) =>
    lines.split("\n").filter((line) => !/^\\/.test(line) && !line.startsWith(without)).length;
  await present(`\`\`\`diff\n--- f\n+++ f\n@@ -1,${count("+")} +1,${count("-")} @@\n${lines}\n\`\`\``);
  for (const [text, expected] of [
    [applied, true],
    [open, false],
  ] as const) {
    files.set("f", text);
    expect(await wait(0.01), text).toMatchObject({ diffs: [{ file: "f", applied: expected }] });
  }
});

test("a wait ends with its time, its call, or the panel; a text that was not seen is not approved", async () => {
  const { present, wait, answer, status, closers, shown } = play();
  await expect(wait()).rejects.toThrow("present it first");
  await present("text");
  expect(await wait(0.01)).toEqual({ outcome: "timeout" });
  await expect(wait(0)).rejects.toThrow("above zero");
  const given = new AbortController();
  const waiting = wait(60, client, given.signal);
  await expect.poll(status).toContain("waits");
  const [seen] = shown as [Review];
  await present("other");
  answer("approved", "", [], seen);
  given.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  await expect.poll(status).toBe("Agent 1 gets your answer when it asks.");
  const last = wait();
  await expect.poll(status).toContain("waits");
  closers[0]?.();
  expect(await last).toEqual({ outcome: "closed" });
});

test("what an agent wrote is the user's alone to read", async () => {
  const folder = join(await temporaryFolder(), "storage", "reviews");
  await new ReviewFiles(folder, silent).keep({ id: "1", label: "Cart", title: "Cart", markdown: "text", client });
  const modes = await Promise.all(
    [folder, join(folder, "1.json")].map(async (each) => (await stat(each)).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o600]);
});

test("so many are kept on disk, the newest, and what is no review is none", async () => {
  const folder = join(await temporaryFolder(), "reviews");
  const kept = new ReviewFiles(folder, silent);
  expect(await kept.all()).toEqual([]);
  const review = { label: "Cart", title: "Cart", markdown: "text", client };
  for (let id = 1; id <= storedReviews + 2; id += 1) await kept.keep({ ...review, id: `${id}` });
  expect(await readdir(folder)).toHaveLength(storedReviews);
  const all = await kept.all();
  expect(all[0]).toEqual({ ...review, id: `${storedReviews + 2}` });
  await kept.forget({ ...review, id: `${storedReviews + 2}` });
  await kept.keep({ id: "half" } as Review);
  expect(await kept.all()).toEqual(all.slice(1));
});
