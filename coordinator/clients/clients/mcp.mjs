// The MCP servers that are CDP clients, as an MCP host runs them.
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { size } from "./png.mjs";

const program = (path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
const playwright = program("@playwright/mcp/cli.js");
const devTools = program("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");

/** Starts a server and hands `drive` a way to call its tools. */
async function withServer(script, args, window, drive) {
  const client = new Client({ name: "clients", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, ...args],
    cwd: window.root,
    env: { ...window.env, CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" },
    stderr: "ignore",
  });
  await client.connect(transport);
  try {
    return await drive(async (name, given = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      if (isError) throw new Error(`${name}: ${text}`);
      const image = content.find(({ type }) => type === "image");
      return { text, image: image && Buffer.from(image.data, "base64") };
    });
  } finally {
    await client.close();
  }
}

/** What an agent sees by Playwright MCP. */
export function playwrightMcp({ address, headers = {}, site, name, window }) {
  const given = Object.entries(headers).flatMap(([key, value]) => ["--cdp-header", `${key}: ${value}`]);
  const patience = ["--timeout-action", "20000", "--output-dir", window.root]; // the machine may be busy
  return withServer(playwright, ["--cdp-endpoint", address, ...given, ...patience], window, async (call) => {
    const tabs = (await call("browser_tabs", { action: "new" })).text;
    const seen = { shared: tabs.includes(`${site}/shop/shared`) };
    await call("browser_navigate", { url: `${site}/shop/${name}` });
    const { text: snapshot } = await call("browser_snapshot");
    seen.title = first(snapshot, /Page Title: (.*)/);
    const ref = (line) => first(snapshot, new RegExp(`${line}.*\\[ref=([^\\]]+)\\]`));
    await call("browser_type", { element: "Name", target: ref('textbox "Name"'), text: "Ada" });
    await call("browser_click", { element: "Buy", target: ref('button "Buy"') });
    await call("browser_wait_for", { text: "Thank you" });
    seen.answer = first((await call("browser_snapshot")).text, /(Thank you[^"\n]*)/);
    seen.sum = (await call("browser_evaluate", { function: "() => 6 * 7" })).text.includes("42");
    seen.logged = (await call("browser_console_messages", { level: "info" })).text.includes("[LOG] Thank you, Ada: 42");
    seen.requests = (await call("browser_network_requests", { static: false })).text.includes(`/price/${name}`);
    seen.screenshot = size((await call("browser_take_screenshot", { type: "png" })).image);
    await call("browser_click", { element: "Next", target: ref('link "Next"') });
    seen.next = first((await call("browser_snapshot")).text, /Page Title: (.*)/);
    await call("browser_tabs", { action: "close" });
    return seen;
  });
}

/** What an agent sees by chrome-devtools-mcp. */
export function devToolsMcp({ address, headers, site, name, window }) {
  const where = address.startsWith("ws") ? ["--wsEndpoint", address] : ["--browserUrl", address];
  if (headers) where.push("--wsHeaders", JSON.stringify(headers));
  return withServer(devTools, [...where, "--no-usage-statistics", "--no-performance-crux"], window, async (call) => {
    const seen = { shared: (await call("list_pages")).text.includes(`${site}/shop/shared`) };
    const { text: pages } = await call("new_page", { url: `${site}/shop/${name}` });
    const pageId = Number(first(pages, /(\d+): .*\[selected\]/));
    const use = (tool, given) => call(tool, { pageId, ...given });
    const { text: snapshot } = await use("take_snapshot");
    const uid = (line) => first(snapshot, new RegExp(`uid=(\\S+) ${line}`));
    seen.heading = first(snapshot, /heading "(.*?)"/);
    await use("fill", { uid: uid('textbox "Name"'), value: "Ada" });
    await use("click", { uid: uid('button "Buy"') });
    await use("wait_for", { text: ["Thank you"] });
    seen.answer = first((await use("take_snapshot")).text, /(Thank you[^"\n]*)/);
    seen.sum = first((await use("evaluate_script", { function: "() => 6 * 7" })).text, /```json\s*(\d+)/);
    seen.logged = (await use("list_console_messages")).text.includes("Thank you, Ada: 42");
    seen.requests = (await use("list_network_requests")).text.includes(`/price/${name}`);
    seen.screenshot = size((await use("take_screenshot")).image);
    await use("click", { uid: uid('link "Next"') });
    seen.next = first((await use("evaluate_script", { function: "() => document.title" })).text, /"(Next.*?)"/);
    await use("close_page");
    return seen;
  });
}

function first(text, pattern) {
  return text.match(pattern)?.[1];
}
