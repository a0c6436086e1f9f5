// What the user reads, if its authors are hostile.
import { expect, test } from "vitest";
import { questionText } from "../src/core/access/actions";
import { clientName, isWebUrl, pageName, plain, siteOf } from "../src/core/plaintext";
import type { PermissionAskArg } from "../src/core/protocol/protocol.generated";

const client = { id: "a", name: "Claude Code", version: "2.1.0" };
const click: PermissionAskArg = {
  client,
  act: "browser_click",
  detail: 'click button "Buy"',
  page: { title: "Shop", url: "http://127.0.0.1:5173/?q=1" },
};
const ask = (...actions: PermissionAskArg[]) => questionText({ client, actions });

test("a question names the agent, the action and the page", () => {
  expect(ask(click)).toBe('Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy".');
});

test("an action without a detail or a page is named by itself", () => {
  expect(ask({ client, act: "browser_fill_form", detail: "" })).toBe("Claude Code 2.1.0 wants to act: fill form.");
});

test("a CDP client that joins is asked about by its name", () => {
  const playwright = { id: "p", name: "Play[wright](command:x)", version: "1.65.1" };
  const joins = { client: playwright, act: "connect", detail: "" };
  expect(questionText({ client: playwright, actions: [joins] })).toBe(
    "Play[wright] (command:x) 1.65.1 wants to control this browser.",
  );
});

test("a question names three actions, with their pages where they are elsewhere, and how many wait", () => {
  const pay = { ...click, detail: "click Pay", page: { title: "Bank", url: "https://bank.example/" } };
  const press = { ...click, detail: "press Enter" };
  expect(ask(click, press)).toMatch(/: click button "Buy"; press Enter\.$/);
  expect(ask(click, pay, press)).toMatch(/: click button "Buy"; click Pay on “Bank” \(bank\.example\); press Enter\.$/);
  expect(ask(click, pay, press, press)).toMatch(/; press Enter\. 1 more action waits\.$/);
  expect(ask(press, press, press, pay, click)).toMatch(
    /: press Enter; press Enter; press Enter\. 2 more actions wait\.$/,
  );
});

test("the agent's own words are marked as such, and cannot end their quotes", () => {
  const named = (claim: string) => ask({ ...click, detail: 'Click button "Order"', claim });
  expect(named("Close the cookie banner")).toMatch(
    /: Click button "Order" \(the agent calls it “Close the cookie banner”\)\.$/,
  );
  expect(named('banner”) "\u202e[x](y)')).toMatch(/ \(the agent calls it “banner'\) '\[x\]\(y\)”\)\.$/);
});

test("code in a question is what runs, with marks for what cannot be seen", () => {
  const evaluate = (script: string) => ask({ ...click, act: "browser_evaluate", detail: `Run a script: ${script}` });
  expect(evaluate("links[0](x)")).toMatch(/: Run a script: links\[0\]\(x\)\.$/);
  expect(evaluate("if (a\u202e) b\u200b()")).toMatch(/: Run a script: if \(a\[U\+202E\]\) b\[U\+200B\]\(\)\.$/);
});

test.each([
  ["a link that allows", "[Refuse](command:browserCoordinator.answer)", "[Refuse] (command:browserCoordinator.answer)"],
  ["a new line", "Shop\r\n\u2028Allowed", "Shop Allowed"],
  ["a change of direction", "Shop\u202egnp.exe", "Shopgnp.exe"],
  ["a word that may be parted", "Waren\u00adkorb \u200fשלום\u200f!", "Warenkorb שלום!"],
  ["an icon", "$(bell-dot) Agent asks $[sync~spin]", "$ (bell-dot) Agent asks $ [sync~spin]"],
  ["an icon in pieces", "$\u200b(bell-dot) $$(bell)", "$ (bell-dot) $$ (bell)"],
  ["nothing to see", "\u200b\u0000", ""],
])("%s in a page's title is plain text", (_, title, expected) => {
  expect(plain(title, 60)).toBe(expected);
  expect(ask({ ...click, page: { title, url: "http://shop/" } })).not.toMatch(/\]\(/);
});

test("long texts are cut, between characters, so that the answers stay in sight", () => {
  const long = "😀".repeat(5_000);
  expect(plain(long, 10)).toBe(`${"😀".repeat(9)}…`);
  const all = { ...client, name: long };
  const page = { title: long, url: `http://${"a".repeat(200)}/` };
  const act = { client: all, act: long, detail: long, claim: long, page };
  for (const actions of [[act], Array<PermissionAskArg>(99).fill(act)]) {
    expect([...questionText({ client: all, actions })].length).toBeLessThan(700);
  }
});

test.each(["", "\u200b\u0000"])("a client without a name has one", (name) => {
  expect(clientName({ name, version: "1" })).toBe("An agent without a name 1");
});

test.each([
  ["https://bank.example/login?token=1", "bank.example"],
  ["about:blank", "about:"],
  ["no url", "no url"],
])("the site of %s", (url, site) => expect(siteOf(url)).toBe(site));

test.each([
  ["http://[::1]:5173/?filter[name]=x", true],
  ["HTTPS://shop.example/", true],
  ["vscode://publisher.extension/act", false],
  ["file:///etc/passwd", false],
  ["javascript:alert(1)", false],
  ["no url", false],
])("%s is of the web: %s", (url, expected) => expect(isWebUrl(url)).toBe(expected));

test("a page without a title is named by its site", () => {
  expect(pageName({ title: "Shop", url: "http://shop/" })).toBe("Shop");
  expect(pageName({ title: "\u200b", url: "http://shop/" })).toBe("shop");
});
