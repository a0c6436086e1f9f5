// Pictures of Playwright's clients leave a page as it was.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

let site;
let windows;

before(async () => {
  site = await openSite();
  const page = `${site.url}/shop/pictures`;
  windows = { "of a pipe": await openWindow(page), "of a port": await openWindow(page, "--debugging-port") };
});

after(async () => {
  for (const window of Object.values(windows ?? {})) await window.close();
  await site?.close();
});

async function join({ endpoint }) {
  const browser = await chromium.connectOverCDP(endpoint.http);
  const [page] = browser.contexts()[0].pages();
  return { browser, page };
}

// A picture of what is visible has the size that the browser draws.
async function size(page) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot");
  await session.detach();
  const png = Buffer.from(data, "base64");
  const inner = await page.evaluate(() => [innerWidth, innerHeight, visualViewport.width, devicePixelRatio].join(" "));
  return `${inner}, drawn ${png.readUInt32BE(16)} × ${png.readUInt32BE(20)}`;
}

for (const kind of ["of a pipe", "of a port"]) {
  test(`two clients, one element, at once, in a browser ${kind}`, { timeout: 120_000 }, async () => {
    const [first, second] = [await join(windows[kind]), await join(windows[kind])];
    const before = await size(first.page);
    for (let round = 0; round < 20; round++) {
      const pictures = await Promise.all([first, second].map(({ page }) => page.locator("#buy").screenshot()));
      assert.ok(pictures.every((picture) => picture.length > 100));
      assert.equal(await size(first.page), before, `round ${round}`);
    }
    await first.browser.close();
    await second.browser.close();
  });

  test(`a client that leaves midway, in a browser ${kind}`, { timeout: 120_000 }, async () => {
    const stays = await join(windows[kind]);
    const before = await size(stays.page);
    for (let round = 0; round < 10; round++) {
      const leaves = await join(windows[kind]);
      const picture = leaves.page.screenshot({ fullPage: round % 2 === 1 }).catch(() => {});
      for (let n = 0; n < round; n++) await leaves.page.evaluate(() => 1); // another moment each time
      await leaves.browser.close();
      await picture;
      await stays.page.locator("#buy").screenshot(); // after that picture
      assert.equal(await size(stays.page), before, `round ${round}`);
    }
    await stays.browser.close();
  });
}
