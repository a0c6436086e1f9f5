// What `coordinator log --record` kept of a client's run, `coordinator replay` gives the same client again:
// without a browser, and without the site.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import CDP from "chrome-remote-interface";
import { chromium } from "playwright-core";
import puppeteer25 from "puppeteer-25";
import { playwright } from "../clients/playwright.mjs";
import { puppeteer24At, puppeteer25At } from "../clients/puppeteer.mjs";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

let window;
const clients = {
  Playwright: playwright,
  "Puppeteer 24": puppeteer24At,
  "Puppeteer 25": puppeteer25At,
  "chrome-remote-interface": remoteInterfaceAt,
  "Playwright with pauses": playwrightThinks,
  "Puppeteer 25 with pauses": puppeteerThinks,
};
const runs = {};

/** What chrome-remote-interface, which asks for the protocol first, sees of the page that is there. */
async function remoteInterfaceAt({ address }) {
  const { hostname: host, port } = new URL(address);
  const client = await CDP({ host, port });
  try {
    const { result } = await client.Runtime.evaluate({ expression: "document.title" });
    return { title: result.value };
  } finally {
    await client.close();
  }
}

const running = new Set();

/** What a script sees that takes its time, as one that somebody debugs. */
async function think(page) {
  const titles = [];
  for (const title of ["one", "two", "three"]) {
    await setTimeout(700);
    await page.goto(`data:text/html,<title>${title}</title>`);
    titles.push(await page.title());
  }
  await page.close();
  return titles;
}

async function playwrightThinks({ address }) {
  const browser = await chromium.connectOverCDP(address);
  try {
    return await think(await browser.contexts()[0].newPage());
  } finally {
    await browser.close();
  }
}

async function puppeteerThinks({ address }) {
  const browser = await puppeteer25.connect({ browserURL: address, defaultViewport: null });
  try {
    return await think(await browser.newPage());
  } finally {
    await browser.disconnect();
  }
}

/** A coordinator command in the background; its first line on the named stream says that it is ready. */
async function background(stream, ...args) {
  const child = spawn(join(window.bin, "coordinator"), args, { env: window.env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child[stream] });
  running.add(child);
  ended.then(() => running.delete(child));
  const [first] = await Promise.race([
    once(lines, "line"),
    ended.then(([code]) => Promise.reject(new Error(`coordinator ${args[0]} ended with ${code}`))),
  ]);
  return {
    first,
    async stop() {
      child.kill("SIGINT");
      const [code] = await ended;
      assert.equal(code, 0);
    },
  };
}

before(async () => {
  const site = await openSite();
  window = await openWindow(`${site.url}/shop/shared`);
  for (const [name, client] of Object.entries(clients)) {
    const file = join(window.root, `${name}.jsonl`);
    const log = await background("stderr", "log", "--workspace", join(window.root, "workspace"), "--record", file);
    const seen = await client({ address: window.endpoint.http, site: site.url, name: "recorded" });
    await log.stop();
    runs[name] = { file, seen, site: site.url };
  }
  await site.close();
});

after(() => {
  for (const child of running) child.kill(); // of tests that did not come to their end
  return window?.close();
});

for (const [name, client] of Object.entries(clients)) {
  test(`${name}, replayed`, { timeout: 60_000 }, async () => {
    const { file, seen, site } = runs[name];
    const replay = await background("stdout", "replay", file);
    try {
      assert.deepEqual(await client({ address: replay.first, site, name: "recorded" }), seen);
    } finally {
      await replay.stop();
    }
  });
}
