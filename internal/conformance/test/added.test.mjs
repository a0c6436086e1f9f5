// Playwright MCP as the added server of `coordinator mcp -- …`: its own tools beside ours, on the window's browser.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openSite } from "./support/site.mjs";
import { openWindow } from "./support/window.mjs";

const playwrightMCP = fileURLToPath(new URL("../node_modules/@playwright/mcp/cli.js", import.meta.url));

let site;
let window;

before(async () => {
  site = await openSite();
  window = await openWindow(`${site.url}/shop/added`);
});

after(async () => {
  await window?.close();
  await site?.close();
});

test("Playwright MCP, added", { timeout: 90_000 }, async () => {
  const transport = new StdioClientTransport({
    command: join(window.bin, "coordinator"),
    args: [
      "mcp",
      "--workspace",
      join(window.root, "workspace"),
      "--no-launch",
      "--",
      process.execPath,
      playwrightMCP,
      "--cdp-endpoint",
      "{cdp_endpoint}",
      "--output-dir",
      window.root,
    ],
    env: window.env,
    stderr: "inherit",
  });
  const host = new Client({ name: "host", version: "1" });
  await host.connect(transport);
  try {
    const { tools } = await host.listTools();
    const names = tools.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.includes("debug_state"), "ours");
    assert.ok(names.includes("browser_run_code_unsafe"), `theirs: ${names}`);
    const code = "async (page) => page.title()";
    const { content, isError } = await host.callTool({ name: "browser_run_code_unsafe", arguments: { code } });
    assert.ok(!isError && content[0].text.includes("Shop added"), JSON.stringify(content));
    const snapshot = await host.callTool({ name: "browser_snapshot", arguments: {} });
    assert.match(snapshot.content[0].text, /Shop added/);
  } finally {
    await host.close();
  }
});
