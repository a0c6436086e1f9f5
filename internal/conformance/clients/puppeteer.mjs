import puppeteer24 from "puppeteer-24";
import puppeteer25 from "puppeteer-25";
import { size } from "./png.mjs";

/** What Puppeteer 24 sees: `address` is for browserURL or, if it is a ws address, for browserWSEndpoint. */
export const puppeteer24At = (given) => see(puppeteer24, given);
export const puppeteer25At = (given) => see(puppeteer25, given);

async function see(puppeteer, { address, headers, site, name }) {
  const where = address.startsWith("ws") ? { browserWSEndpoint: address } : { browserURL: address };
  const browser = await puppeteer.connect({ ...where, headers, defaultViewport: null });
  try {
    const seen = {
      version: await browser.version(),
      // Not by browser.pages(): a tab that another client opens just now may have no main frame yet.
      shared: browser.targets().some((target) => target.url() === `${site}/shop/shared`),
    };
    const page = await browser.newPage();
    const logged = new Promise((resolve) => page.once("console", (message) => resolve(message.text())));
    const response = await page.goto(`${site}/shop/${name}`);
    seen.status = response.status();
    seen.title = await page.title();
    seen.sum = await page.evaluate(() => 6 * 7);
    seen.error = await page.evaluate(() => missing).catch((error) => error.message.split("\n")[0]);
    await page.type("#name", "Ada");
    await page.click("#buy");
    seen.logged = await logged;
    seen.answer = await page.$eval("#answer", (element) => element.textContent);
    seen.screenshot = size(await page.screenshot());
    await Promise.all([page.waitForNavigation(), page.click("a")]);
    seen.next = await page.title();
    const alone = await browser.createBrowserContext();
    const other = await alone.newPage();
    await other.goto(`${site}/shop/alone`);
    seen.alone = [await other.title(), (await alone.pages()).length];
    await alone.close();
    await page.close();
    seen.closed = page.isClosed();
    return seen;
  } finally {
    await browser.disconnect();
  }
}
