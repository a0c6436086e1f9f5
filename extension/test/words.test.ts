// What the human reads, when those who have a say in it mean no good.
import { expect, test } from "vitest";
import type { PermissionAskArg } from "../src/core/protocol.generated";
import { clientName, plain, questionText, siteOf } from "../src/core/words";

const client = { id: "a", name: "Claude Code", version: "2.1.0" };
const click: PermissionAskArg = {
  client,
  act: "browser_click",
  detail: 'click button "Buy"',
  page: { title: "Shop", url: "http://127.0.0.1:5173/?q=1" },
};
const ask = (...acts: PermissionAskArg[]) => questionText({ id: "q", client, acts, until: 0 });

test("a question names the agent, the act and the page", () => {
  expect(ask(click)).toBe('Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy".');
});

test("an act without a detail or a page is named by itself", () => {
  expect(ask({ client, act: "Page.navigate", detail: "" })).toBe("Claude Code 2.1.0 wants to act: Page.navigate.");
});

test("many acts are counted, and said to be elsewhere where they are", () => {
  expect(ask(click, click)).toMatch(/"Buy"; and 1 more act\.$/);
  expect(ask(click, click, { ...click, page: { title: "Bank", url: "https://bank.example/" } })).toMatch(
    /"Buy"; and 2 more acts, some of them elsewhere\.$/,
  );
});

test.each([
  ["a link that allows", "[Refuse](command:browserCoordinator.answer)", "(Refuse)(command:browserCoordinator.answer)"],
  ["a new line", "Shop\r\n\u2028Allowed", "Shop Allowed"],
  ["a change of direction", "Shop\u202egnp.exe", "Shop gnp.exe"],
  ["nothing to see", "\u200b\u0000", ""],
])("%s in a page's title is plain text", (_, title, expected) => {
  expect(plain(title, 60)).toBe(expected);
  expect(ask({ ...click, page: { title, url: "http://shop/" } })).not.toMatch(/\]\(/);
});

test("long texts are cut, between characters, so that the answers stay in sight", () => {
  const long = "😀".repeat(5_000);
  expect(plain(long, 10)).toBe(`${"😀".repeat(9)}…`);
  const all = { ...client, name: long };
  const acts = [{ client: all, act: long, detail: long, page: { title: long, url: `http://${"a".repeat(200)}/` } }];
  expect([...questionText({ id: "q", client: all, acts, until: 0 })].length).toBeLessThan(500);
});

test("a client without a name has one", () => expect(clientName({ name: "", version: "" })).toMatch(/without a name/));

test.each([
  ["https://bank.example/login?token=1", "bank.example"],
  ["about:blank", "about:"],
  ["no url", "no url"],
])("the site of %s", (url, site) => expect(siteOf(url)).toBe(site));
