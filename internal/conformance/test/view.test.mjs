// What clients can still do in a window that lets them only look, and what they are told about the rest
// (specs/cdp-endpoint.md, "What clients may do").
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import CDP from "chrome-remote-interface";
import { devToolsView } from "../clients/devtools.mjs";
import { chromium } from "playwright-core";
import puppeteer24 from "puppeteer-24";
import puppeteer25 from "puppeteer-25";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

let site;
let window;

before(async () => {
  site = await openSite();
  window = await openWindow(`${site.url}/live/looked-at`, "--access", "view");
});

after(async () => {
  await window?.close();
  await site?.close();
});

const refused = /refused: the access mode is "view"/;
const png = (base64) => assert.ok(base64.startsWith("iVBORw0KGgo"), "not a PNG");

/** The page is as it was, as the browser itself says. */
async function unchanged() {
  const list = await (await fetch(`${window.direct.http}/json/list`)).json();
  assert.deepEqual(
    list.filter(({ type }) => type === "page").map(({ url, title }) => [url, title]),
    [[`${site.url}/live/looked-at`, "Shop looked-at"]],
  );
}

/** Text and HTML are read without code. */
async function reads(send) {
  await send("DOM.enable");
  const { root } = await send("DOM.getDocument");
  const { nodeId } = await send("DOM.querySelector", { nodeId: root.nodeId, selector: "#buy" });
  assert.match((await send("DOM.getOuterHTML", { nodeId })).outerHTML, />Buy</);
  assert.ok((await send("DOMSnapshot.captureSnapshot", { computedStyles: [] })).strings.includes("Buy"));
}

/** The console's messages and the responses of a page, with their contents. */
async function observes(page, next) {
  const [message, response] = await Promise.all([next("console"), next("response")]);
  assert.match(message.text(), /^the price is/);
  assert.equal(response.url(), `${site.url}/price/looked-at?live`);
  assert.equal(await response.text(), '{"amount":42}');
}

for (const form of ["http", "ws"]) {
  test(`Playwright, ${form}`, { timeout: 60_000 }, async () => {
    const browser = await chromium.connectOverCDP(window.endpoint[form], { timeout: 20_000 });
    try {
      const [context] = browser.contexts();
      const [page] = context.pages();
      page.setDefaultTimeout(10_000);
      assert.equal(page.url(), `${site.url}/live/looked-at`);
      assert.equal(await page.title(), ""); // it takes the refusal for a page that is still loading
      const session = await context.newCDPSession(page);
      assert.equal((await session.send("Target.getTargetInfo")).targetInfo.title, "Shop looked-at");
      png((await session.send("Page.captureScreenshot")).data);
      await reads((method, params) => session.send(method, params));
      assert.ok((await session.send("Accessibility.getFullAXTree")).nodes.length > 5);
      await observes(page, (event) => page.waitForEvent(event));
      assert.equal((await context.cookies())[0].value, "full");
      for (const act of [
        () => page.screenshot(),
        () => page.content(),
        () => page.getByRole("button", { name: "Buy" }).textContent(),
        () => page.evaluate(() => (document.title = "evaded")),
        () => page.getByRole("button", { name: "Buy" }).click(),
        () => page.goto("about:blank"),
        () => context.newPage(),
      ])
        await assert.rejects(act, refused, `${act}`);
      await unchanged();
    } finally {
      await browser.close();
    }
    await unchanged();
  });
}

for (const [version, puppeteer] of [
  [24, puppeteer24],
  [25, puppeteer25],
]) {
  test(`Puppeteer ${version}`, { timeout: 60_000 }, async () => {
    const browser = await puppeteer.connect({ browserURL: window.endpoint.http, defaultViewport: null });
    const [page] = await browser.pages();
    assert.equal(page.url(), `${site.url}/live/looked-at`);
    const session = await page.createCDPSession();
    assert.equal((await session.send("Target.getTargetInfo")).targetInfo.title, "Shop looked-at");
    png(await page.screenshot({ encoding: "base64" }));
    await reads((method, params) => session.send(method, params));
    assert.match(JSON.stringify(await page.accessibility.snapshot()), /"Buy"/);
    await observes(page, (event) => new Promise((resolve) => page.once(event, resolve)));
    assert.equal((await browser.cookies())[0].value, "full");
    for (const act of [
      () => page.title(),
      () => page.content(),
      () => page.$eval("#buy", (buy) => buy.textContent),
      () => page.pdf(),
      () => page.evaluate(() => (document.title = "evaded")),
      () => page.click("#buy"),
      () => page.goto("about:blank"),
      () => page.close(),
      () => browser.newPage(),
    ])
      await assert.rejects(act, refused, `${act}`);
    await browser.close(); // it does not say that this is refused
    await unchanged();
  });
}

test("chromedp", { timeout: 90_000 }, async () => {
  const pages = await (await fetch(`${window.endpoint.http}/json/list`)).json();
  const { id } = pages.find(({ type }) => type === "page");
  const { stdout } = await promisify(execFile)(join(window.bin, "chromedp"), ["look", window.endpoint.http, id], {
    env: window.env,
  });
  const { titles, error } = JSON.parse(stdout);
  assert.deepEqual(titles, ["Shop looked-at"]);
  assert.match(error, refused); // it evaluates "self" in a page before anything else
  await unchanged();
});

test("chrome-remote-interface", { timeout: 60_000 }, async () => {
  const { hostname: host, port } = new URL(window.endpoint.http);
  const options = { host, port: Number(port) };
  const [{ id, title }] = (await CDP.List(options)).filter(({ type }) => type === "page");
  assert.equal(title, "Shop looked-at");
  const client = await CDP({ ...options, target: id });
  try {
    const { Accessibility, DOM, Page, Runtime } = client;
    const { Network } = client;
    const logged = new Promise((resolve) => Runtime.consoleAPICalled(resolve));
    const loaded = new Promise((resolve) => Network.loadingFinished(resolve));
    await Promise.all([Page.enable(), Runtime.enable(), Network.enable()]);
    assert.equal((await logged).args[0].value, "the price is");
    assert.equal((await Network.getResponseBody({ requestId: (await loaded).requestId })).body, '{"amount":42}');
    assert.equal((await Network.getCookies()).cookies[0].value, "full");
    png((await Page.captureScreenshot()).data);
    assert.ok((await Accessibility.getFullAXTree()).nodes.length > 5);
    await reads((method, params) => client.send(method, params));
    for (const act of [
      () => Runtime.evaluate({ expression: "document.title" }),
      () => Runtime.evaluate({ expression: "1", throwOnSideEffect: true, timeout: 500 }),
      () => DOM.performSearch({ query: "//button" }),
      () => Page.printToPDF(),
      () => Page.navigate({ url: "about:blank" }),
      () => CDP.New({ ...options, url: "about:blank" }),
      () => CDP.Close({ ...options, id }),
    ])
      await assert.rejects(act, refused, `${act}`);
  } finally {
    await client.close();
  }
  await unchanged();
});

test("DevTools", { timeout: 90_000 }, async () => {
  const [{ id }] = await (await fetch(`${window.endpoint.http}/json/list`)).json();
  assert.deepEqual(await devToolsView({ address: window.endpoint.http, id, window }), {
    elements: true,
    styles: true,
    console: true,
    network: '{"amount":42}',
    sources: true,
    cookie: "full",
  });
  await unchanged();
});
