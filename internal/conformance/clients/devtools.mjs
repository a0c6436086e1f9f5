// Chromium's own DevTools, in a second browser: the list of chrome://inspect, and the front end that
// comes with the browser, whose origin is devtools://devtools.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** What a person sees there of the browser at `address`, a http address without a path. */
export async function devTools({ address, site, name, window }) {
  const { host } = new URL(address);
  const profile = mkdtempSync(join(window.root, "devtools-"));
  mkdirSync(join(profile, "Default"));
  const preferences = { devtools: { discover_tcp_targets: true, tcp_discovery_config: [host] } };
  writeFileSync(join(profile, "Default", "Preferences"), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: window.browser,
    args: ["--headless=new", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    headless: false, // Playwright's own headless is another browser
    env: window.env,
  });
  try {
    const url = `${site}/shop/${name}`;
    const { id } = await (await fetch(`${address}/json/new?${url}`, { method: "PUT" })).json();
    const inspect = await context.newPage();
    await inspect.goto("chrome://inspect/#devices");
    // A page that has just opened has no title yet; the list looks again each second.
    const row = inspect.locator("#devices-list .row").filter({ hasText: url }).filter({ hasText: `Shop ${name}` }).first();
    await row.waitFor();
    const seen = {
      name: (await inspect.locator(".browser-name").innerText()).replace(host, "HOST"),
      row: (await row.locator(".subrow-box").innerText()).split("\n").filter(Boolean).slice(0, 2),
    };

    const front = await context.newPage();
    await front.goto(`devtools://devtools/bundled/inspector.html?ws=${host}/devtools/page/${id}`);
    await front.getByText(`Shop for ${name}`).first().waitFor(); // in the tree of elements
    seen.elements = true;
    await front.keyboard.press("Control+Backquote"); // the console
    const prompt = front.getByRole("textbox", { name: "Console prompt" });
    await prompt.click();
    await prompt.pressSequentially("document.title + 6 * 7");
    await front.keyboard.press("Enter");
    // Not the preview, which the prompt shows before and may show for a moment longer.
    await front.locator(".console-user-command-result").getByText(`'Shop ${name}42'`).waitFor();
    seen.console = true;
    await front.close();
    await fetch(`${address}/json/close/${id}`);
    return seen;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
