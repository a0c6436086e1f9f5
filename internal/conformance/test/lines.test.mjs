// The lines that `coordinator endpoint --format` prints, pasted: each by its client, of a window that lets
// nobody in without the token.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { chromium } from "playwright-core";
import puppeteer24 from "puppeteer-24";
import puppeteer25 from "puppeteer-25";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

const clients = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);

let site;
let window;
let page;

before(async () => {
  site = await openSite();
  page = `${site.url}/shop/pasted`;
  window = await openWindow(page, "--require-token");
});

after(async () => {
  await window?.close();
  await site?.close();
});

async function line(...flags) {
  const args = ["endpoint", "--workspace", join(window.root, "workspace"), ...flags];
  const { stdout } = await run(join(window.bin, "coordinator"), args, { env: window.env });
  return stdout.trim();
}

/** The `browser` that a line of JavaScript makes of a client. */
function browserOf(name, client, pasted) {
  return new Function(name, `return (async () => { ${pasted}\n return browser; })();`)(client);
}

test("the plain address", async () => {
  const address = await line();
  assert.equal(await line("--token"), address);
  assert.equal((await fetch(`${address}/json/version`)).status, 200);
  const refused = await fetch(`${await line("--token=false")}/json/version`);
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /`coordinator endpoint --token`/);
});

test("Playwright", { timeout: 30_000 }, async () => {
  const browser = await browserOf("chromium", chromium, await line("--format", "playwright"));
  try {
    const pages = browser.contexts().flatMap((context) => context.pages());
    assert.deepEqual(pages.map((each) => each.url()), [page]);
  } finally {
    await browser.close();
  }
});

for (const [version, puppeteer] of [
  [24, puppeteer24],
  [25, puppeteer25],
]) {
  test(`Puppeteer ${version}`, { timeout: 30_000 }, async () => {
    const browser = await browserOf("puppeteer", puppeteer, await line("--format", "puppeteer"));
    try {
      assert.deepEqual((await browser.pages()).map((each) => each.url()), [page]);
    } finally {
      await browser.disconnect();
    }
  });
}

test("chromedp", { timeout: 60_000 }, async () => {
  const program = join(window.root, "pasted.go");
  writeFileSync(
    program,
    `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

func main() {
	${await line("--format", "chromedp")}
	defer cancel()
	ctx, leave := chromedp.NewContext(ctx)
	defer leave()
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, target := range targets {
		fmt.Println(target.URL)
	}
}
`,
  );
  const { stdout } = await run("go", ["run", program], {
    cwd: clients,
    env: { ...process.env, GOWORK: "off" },
  });
  assert.ok(stdout.split("\n").includes(page), stdout);
});

test("an MCP host's configuration, Playwright MCP", { timeout: 60_000 }, async () => {
  const { mcpServers } = JSON.parse(await line("--format", "mcp"));
  const { servers } = JSON.parse(await line("--format", "vscode"));
  assert.deepEqual(servers, mcpServers);
  const { command, args, env: own } = mcpServers.playwright;
  assert.ok(!args.some((a) => /[0-9a-f]{64}/.test(a)), "the token is an argument, which others can read");
  // npx takes the package that is installed for these tests, and asks no registry.
  symlinkSync(join(clients, "node_modules"), join(window.root, "node_modules"));
  const env = { ...window.env, npm_config_offline: "true", npm_config_update_notifier: "false", ...own };
  const transport = new StdioClientTransport({ command, args, cwd: window.root, env, stderr: "inherit" });
  const host = new Client({ name: "host", version: "1" });
  await host.connect(transport);
  try {
    const { content } = await host.callTool({ name: "browser_tabs", arguments: { action: "list" } });
    assert.match(content[0].text, /Shop pasted/);
  } finally {
    await host.close();
  }
});
