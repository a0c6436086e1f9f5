// What clients can still do in a window that lets them only look, and what they are told about the rest
// (specs/cdp-endpoint.md, "What clients may do").
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import puppeteer24 from "puppeteer-24";
import puppeteer25 from "puppeteer-25";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

let site;
let window;

before(async () => {
  site = await openSite();
  window = await openWindow(`${site.url}/shop/looked-at`, "--access", "view");
});

after(async () => {
  await window?.close();
  await site?.close();
});

const refused = /refused: the access mode of this window is "view".*--access full/;
const png = (base64) => assert.ok(base64.startsWith("iVBORw0KGgo"), "not a PNG");

/** The page is as it was, as the browser itself says. */
async function unchanged() {
  const list = await (await fetch(`${window.direct.http}/json/list`)).json();
  assert.deepEqual(
    list.filter(({ type }) => type === "page").map(({ url, title }) => [url, title]),
    [[`${site.url}/shop/looked-at`, "Shop looked-at"]],
  );
}

for (const form of ["http", "ws"]) {
  test(`Playwright, ${form}`, { timeout: 60_000 }, async () => {
    const browser = await chromium.connectOverCDP(window.endpoint[form], { timeout: 20_000 });
    try {
      const [context] = browser.contexts();
      const [page] = context.pages();
      page.setDefaultTimeout(10_000);
      assert.equal(page.url(), `${site.url}/shop/looked-at`);
      const session = await context.newCDPSession(page);
      assert.equal((await session.send("Target.getTargetInfo")).targetInfo.title, "Shop looked-at");
      png((await session.send("Page.captureScreenshot")).data);
      assert.ok((await session.send("Accessibility.getFullAXTree")).nodes.length > 5);
      for (const act of [
        () => page.screenshot(),
        () => page.content(),
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
    assert.equal(page.url(), `${site.url}/shop/looked-at`);
    assert.equal(await page.title(), "Shop looked-at");
    png(await page.screenshot({ encoding: "base64" }));
    assert.match(JSON.stringify(await page.accessibility.snapshot()), /"Buy"/);
    for (const act of [
      () => page.content(),
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
