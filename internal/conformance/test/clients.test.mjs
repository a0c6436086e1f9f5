// Each client does the same with the browser itself and through the endpoint, and must see the same.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { devTools } from "../clients/devtools.mjs";
import { devToolsMcp, playwrightMcp } from "../clients/mcp.mjs";
import { playwright } from "../clients/playwright.mjs";
import { chromedp, rod } from "../clients/programs.mjs";
import { puppeteer24At, puppeteer25At } from "../clients/puppeteer.mjs";
import { remoteInterface } from "../clients/remote-interface.mjs";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

let site;
let window;
let strict; // nobody gets in there without the token
let ported; // a browser with a debugging port; the others have a pipe

before(async () => {
  site = await openSite();
  window = await openWindow(`${site.url}/shop/shared`);
  strict = await openWindow(`${site.url}/shop/shared`, "--require-token");
  ported = await openWindow(`${site.url}/shop/shared`, "--debugging-port");
});

after(async () => {
  await ported?.close();
  await strict?.close();
  await window?.close();
  await site?.close();
});

const bearer = () => ({ Authorization: `Bearer ${strict.token}` });

// Every client with each way to give it an address; `http` and `ws` are members of an address of the
// window. `mounted` has the token in the path; with headers the token is there alone.
const clients = [
  ["Playwright", playwright, { http: "endpoint", ws: "endpoint" }],
  ["Playwright with a path prefix", playwright, { http: "mounted", ws: "mounted" }],
  ["Playwright with headers", playwright, { http: "endpoint", ws: "endpoint" }, bearer],
  ["Puppeteer 24", puppeteer24At, { http: "endpoint", ws: "endpoint" }],
  ["Puppeteer 24 with a path prefix", puppeteer24At, { ws: "mounted" }],
  ["Puppeteer 24 with headers", puppeteer24At, { ws: "endpoint" }, bearer],
  ["Puppeteer 25", puppeteer25At, { http: "endpoint", ws: "endpoint" }],
  ["Puppeteer 25 with a path prefix", puppeteer25At, { http: "mounted", ws: "mounted" }],
  ["Puppeteer 25 with headers", puppeteer25At, { ws: "endpoint" }, bearer],
  ["chromedp", chromedp, { http: "endpoint", ws: "endpoint" }],
  ["chromedp with a path prefix", chromedp, { ws: "mounted" }],
  ["rod", rod, { http: "endpoint", ws: "endpoint" }],
  ["rod with a path prefix", rod, { ws: "mounted" }],
  ["chrome-remote-interface", remoteInterface, { http: "endpoint" }],
  ["chrome-remote-interface with a path prefix", remoteInterface, { http: "mounted" }],
  ["Playwright MCP", playwrightMcp, { http: "endpoint" }],
  ["Playwright MCP with a header", playwrightMcp, { http: "endpoint" }, bearer],
  ["chrome-devtools-mcp", devToolsMcp, { http: "endpoint" }],
  ["chrome-devtools-mcp with headers", devToolsMcp, { ws: "endpoint" }, bearer],
  ["chrome://inspect and the DevTools front end", devTools, { http: "endpoint" }],
].flatMap(([name, client, forms, headers]) =>
  Object.entries(forms).map(([form, via]) => ({ name: `${name}, ${form}`, client, form, via, headers })),
);

const see = (client, address, name, headers) => client({ address, headers, site: site.url, name, window });

// One direct run for each client and form.
const direct = new Map();
async function seenDirectly({ client, form }) {
  const key = `${client.name} ${form}`;
  if (!direct.has(key)) {
    const address = ported.direct[form];
    direct.set(key, await client({ address, site: site.url, name: "here", window: ported }));
  }
  return direct.get(key);
}

for (const each of clients) {
  test(each.name, { timeout: 60_000 }, async () => {
    const expected = await seenDirectly(each);
    assert.equal(expected.shared ?? true, true, "the page that a person has open");
    assert.match(JSON.stringify(expected), /Shop|elements/);
    const guarded = each.headers || each.via === "mounted" ? strict : window;
    assert.deepEqual(await see(each.client, guarded[each.via][each.form], "here", each.headers?.()), expected);
  });
}

// So it is the header that lets them in.
for (const each of clients.filter(({ headers }) => headers)) {
  test(`${each.name}, left out`, { timeout: 60_000 }, async () => {
    await assert.rejects(see(each.client, strict[each.via][each.form], "here"), ({ message }) => /403/.test(message));
  });
}

test("all of them at once on one browser", { timeout: 120_000 }, async () => {
  const once = clients.filter(({ client }, at) => clients.findIndex((other) => other.client === client) === at);
  const seen = await Promise.all(
    once.map(({ client, form, via }, at) => see(client, window[via][form], `at-once-${at}`)),
  );
  for (const [at, each] of once.entries()) {
    const expected = JSON.parse(JSON.stringify(await seenDirectly(each)).replaceAll(/\bhere\b/g, `at-once-${at}`));
    assert.deepEqual(seen[at], expected, each.name);
  }
});
