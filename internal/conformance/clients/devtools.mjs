// Chromium's own DevTools, in a second browser: the list of chrome://inspect, and the front end that
// comes with the browser, whose origin is devtools://devtools.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** Runs use with a browser of its own, whose chrome://inspect looks at host. */
async function withFront(window, host, use) {
  const profile = mkdtempSync(join(window.root, "devtools-"));
  mkdirSync(join(profile, "Default"));
  const preferences = { devtools: { discover_tcp_targets: true, tcp_discovery_config: [host] } };
  writeFileSync(join(profile, "Default", "Preferences"), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: window.browser,
    args: ["--headless=new", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    headless: false, // Playwright's own headless is another browser
    env: window.env,
    viewport: { width: 1500, height: 900 },
  });
  try {
    return await use(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a person sees there of the browser at `address`, a http address without a path. */
export async function devTools({ address, site, name, window }) {
  const { host } = new URL(address);
  return withFront(window, host, async (context) => {
    const url = `${site}/shop/${name}`;
    const { id } = await (await fetch(`${address}/json/new?${url}`, { method: "PUT" })).json();
    const inspect = await context.newPage();
    await inspect.goto("chrome://inspect/#devices");
    // A page that has just opened has no title yet; the list looks again each second.
    const row = inspect
      .locator("#devices-list .row")
      .filter({ hasText: url })
      .filter({ hasText: `Shop ${name}` })
      .first();
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
  });
}

/** What a person sees there of a page in a window that lets clients only look. */
export async function devToolsView({ address, id, window }) {
  const { host } = new URL(address);
  return withFront(window, host, async (context) => {
    const front = await context.newPage();
    await front.goto(`devtools://devtools/bundled/inspector.html?ws=${host}/devtools/page/${id}`);
    const tab = (name) => front.getByRole("tab", { name, exact: true }).first().click();
    const seen = {};
    const button = front.getByText("Buy", { exact: true }).first();
    await button.waitFor(); // in the tree of elements
    seen.elements = true;
    await front.getByRole("button", { name: /screencast/i }).first().click(); // for room
    await button.click();
    await front.getByText("rgb(1, 2, 3)").first().waitFor();
    seen.styles = true;

    await tab("Console");
    await front.locator(".console-message-text", { hasText: "the price is" }).first().waitFor();
    seen.console = true;
    const prompt = front.getByRole("textbox", { name: "Console prompt" });
    await prompt.click();
    await prompt.pressSequentially("document.title = 'evaded'");
    await front.keyboard.press("Enter");
    await front.locator(".console-user-command").first().waitFor();
    // It is refused: the caller looks at the page.

    await tab("Network");
    await front.getByText("looked-at?live").first().click();
    await tab("Response");
    await front.locator(".cm-line", { hasText: "amount" }).first().waitFor();
    seen.network = (await front.locator(".cm-line", { hasText: "amount" }).first().innerText()).replace(/\s/g, "");

    await tab("Sources");
    await front.getByRole("treeitem", { name: /looked-at/ }).first().click();
    await front.locator(".cm-line", { hasText: "setInterval" }).first().waitFor();
    seen.sources = true;

    await tab("Application");
    await front.getByText("Cookies", { exact: true }).first().dblclick();
    await front.getByText(/^http:\/\/127/).filter({ visible: true }).first().click();
    await front.getByText("basket", { exact: true }).filter({ visible: true }).first().waitFor();
    seen.cookie = await front.getByText("full", { exact: true }).filter({ visible: true }).first().innerText();
    return seen;
  });
}
