import { chromium } from "playwright-core";
import { size } from "./png.mjs";

/** What Playwright does and sees at `address`, http or ws. */
export async function playwright({ address, headers, site, name }) {
  const browser = await chromium.connectOverCDP(address, { headers, timeout: 20_000 });
  try {
    const [context] = browser.contexts();
    const seen = {
      version: browser.version(),
      shared: context.pages().some((page) => page.url() === `${site}/shop/shared`),
    };
    const page = await context.newPage();
    const logged = page.waitForEvent("console");
    await page.route("**/price/*", (route) => route.fulfill({ json: { amount: 7 } }));
    const response = await page.goto(`${site}/shop/${name}`);
    seen.status = response.status();
    seen.title = await page.title();
    seen.sum = await page.evaluate(() => 6 * 7);
    seen.error = await page.evaluate(() => missing).catch((error) => error.message.split("\n")[0]);
    await page.getByLabel("Name").fill("Ada");
    await page.getByRole("button", { name: "Buy" }).click();
    await page.getByText("Thank you").waitFor();
    seen.answer = await page.locator("#answer").textContent();
    seen.logged = (await logged).text();
    seen.snapshot = await page.locator("body").ariaSnapshot();
    seen.screenshot = size(await page.screenshot());
    await Promise.all([page.waitForURL("**/next/*"), page.getByRole("link").click()]);
    seen.next = await page.title();
    const alone = await browser.newContext();
    const other = await alone.newPage();
    await other.goto(`${site}/shop/alone`);
    seen.alone = [await other.title(), alone.pages().length];
    await alone.close();
    await page.close();
    seen.closed = page.isClosed();
    return seen;
  } finally {
    await browser.close(); // only the connection
  }
}
