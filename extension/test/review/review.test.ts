// Reviews: what stands in them after each mode. The panel is played here; the real one is in
// e2e/review.test.ts.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silent } from "../../src/core/log";
import { KeptReviews } from "../../src/core/review/keptreviews";
import { keptReviews, type Review, type ReviewPlace, Reviews, reviewLimit } from "../../src/core/review/review";
import type { Caller } from "../../src/core/window/connection";
import { temporaryFolder } from "../support/window";

const client = { id: "c", name: "Agent", version: "1" };

/** The editor: tabs by their labels. `kept` and `tabs` are what a reload has left. */
function play(kept: Review[] = [], tabs = new Set<string>()) {
  const here = new Set<string>();
  const shown: Review[] = [];
  const opened: string[] = [];
  const closers: (() => void)[] = [];
  const newPanel = (label: string) => {
    const listeners: (() => void)[] = [];
    const close = () => {
      tabs.delete(label);
      for (const listener of listeners) listener();
    };
    closers.push(close);
    return {
      show: async (review: Review) => void shown.push(review),
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
    kept: async () => [...onDisk.values()],
    keep: async (review) => void onDisk.set(review.id, review),
    forget: async ({ id }) => void onDisk.delete(id),
  };
  const reviews = new Reviews(place, (id) => here.has(id));
  const never = new AbortController().signal;
  const caller: Caller = { signal: never, connection: never, peer: undefined };
  const present = (markdown: string, mode = "replace", section?: string, by = client, title = "Cart") => {
    here.add(by.id);
    return reviews.command.run({ client: by, title, markdown, mode, section }, caller);
  };
  return { here, reviews, tabs, opened, shown, closers, onDisk, newPanel, present, text: () => shown.at(-1)?.markdown };
}

/** A window that was reloaded after a review was shown; its tab is there still. */
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

test("an agent that was started anew goes on in its panel, which shows its version now; while both are there, each has one", async () => {
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

test("after a reload one goes on that is behind another tab, and its old panel does not bring the old text back", async () => {
  const { review, reviews, newPanel, present, text, opened, tabs, shown } = await reloaded("# Cart\n\nkept");
  await present("more", "update-section", "Cart");
  expect(text()).toBe("# Cart\n\nmore\n");
  expect(opened).toEqual(["Cart"]);
  let closed = false;
  const old = { ...newPanel(review.label), close: () => (closed = true) };
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

test("so many are kept on disk, the newest, and what is no review is none", async () => {
  const folder = join(await temporaryFolder(), "reviews");
  const kept = new KeptReviews(folder, silent);
  expect(await kept.all()).toEqual([]);
  const review = { label: "Cart", title: "Cart", markdown: "text", client };
  for (let id = 1; id <= keptReviews + 2; id += 1) await kept.keep({ ...review, id: `${id}` });
  expect(await readdir(folder)).toHaveLength(keptReviews);
  const all = await kept.all();
  expect(all[0]).toEqual({ ...review, id: `${keptReviews + 2}` });
  await kept.forget({ ...review, id: `${keptReviews + 2}` });
  await kept.keep({ id: "half" } as Review);
  expect(await kept.all()).toEqual(all.slice(1));
});
