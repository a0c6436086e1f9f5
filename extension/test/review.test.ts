// Reviews: what stands in them after each mode. The panel is played here; the real one is in
// e2e/review.test.ts.
import { expect, test } from "vitest";
import type { Caller } from "../src/core/connection";
import { type Review, Reviews, reviewLimit } from "../src/core/review";

const client = { id: "c", name: "Agent", version: "1" };

function play() {
  const shown: Review[] = [];
  const closers: (() => void)[] = [];
  const titles: string[] = [];
  const newPanel = (title: string) => {
    titles.push(title);
    return {
      show: async (review: Review) => void shown.push(review),
      onClosed: (listener: () => void) => void closers.push(listener),
    };
  };
  const reviews = new Reviews(newPanel);
  const never = new AbortController().signal;
  const caller: Caller = { signal: never, connection: never, peer: undefined };
  const present = (markdown: string, mode = "replace", section?: string) =>
    reviews.command.run({ client, title: "Cart", markdown, mode, section }, caller);
  return { reviews, titles, closers, present, text: () => shown.at(-1)?.markdown };
}

test("replace, append and update-section, in one panel", async () => {
  const { present, text, titles } = play();
  expect(await present("# Cart\n\nold\n\n## Tests\n\nnone\n\n# Rest\n")).toEqual({ shown: true });
  await present("some", "update-section", "Tests");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nsome\n\n# Rest\n");
  await present("## Tests\n\nmany\n\n### More\n", "update-section", "## Tests");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nmany\n\n### More\n\n# Rest\n");
  await present("end", "append");
  expect(text()).toBe("# Cart\n\nold\n\n## Tests\n\nmany\n\n### More\n\n# Rest\n\nend");
  await present("new");
  expect(text()).toBe("new");
  expect(titles).toEqual(["Cart"]);
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

test("a closed panel is forgotten, one from before a reload goes on", async () => {
  const { present, text, titles, closers, reviews } = play();
  await present("a");
  closers[0]?.();
  await present("b", "append");
  expect(text()).toBe("b");
  expect(titles).toEqual(["Cart", "Cart"]);
  closers[1]?.();
  const shown: Review[] = [];
  const panel = { show: async (review: Review) => void shown.push(review), onClosed: () => {} };
  reviews.adopt({ title: "Cart", markdown: "kept", author: "Agent 1" }, panel);
  await present("more", "append");
  expect(shown.at(-1)?.markdown).toBe("kept\n\nmore");
  expect(titles).toHaveLength(2);
});
