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

/**
 * How these servers fail beside clients that open and close tabs of their own, on a direct connection as through
 * the endpoint. Playwright MCP tells the titles of all tabs with each answer: one that closes just then costs the
 * answer, and what was asked for is done by then. chrome-devtools-mcp cannot list a tab without a main frame yet.
 */
const otherTabs = /browserBackend\.callTool: Target page, context or browser has been closed|main frame too early/;

/** An act whose answer does not matter. */
const acting = (call) => (tool, given) =>
  call(tool, given).catch((error) => {
    if (!otherTabs.test(error.message)) throw error;
  });

/** A look, which may be taken again: there are no more tabs than that to open and close. */
const looking = (call) => {
  const look = (tool, given, again = 20) =>
    call(tool, given).catch((error) => {
      if (again === 0 || !otherTabs.test(error.message)) throw error;
      return look(tool, given, again - 1);
    });
  return look;
};

/** What an agent sees by Playwright MCP. */
export function playwrightMcp({ address, headers = {}, site, name, window }) {
  const given = Object.entries(headers).flatMap(([key, value]) => ["--cdp-header", `${key}: ${value}`]);
  const patience = ["--timeout-action", "20000", "--output-dir", window.root]; // the machine may be busy
  return withServer(playwright, ["--cdp-endpoint", address, ...given, ...patience], window, async (call) => {
    const act = acting(call);
    const look = looking(call);
    await act("browser_tabs", { action: "new" });
    const { text: tabs } = await look("browser_tabs", { action: "list" });
    const seen = { shared: tabs.includes(`${site}/shop/shared`) };
    await act("browser_navigate", { url: `${site}/shop/${name}` });
    const { text: snapshot } = await look("browser_snapshot");
    seen.title = first(snapshot, /Page Title: (.*)/);
    const ref = (line) => first(snapshot, new RegExp(`${line}.*\\[ref=([^\\]]+)\\]`));
    await act("browser_type", { element: "Name", target: ref('textbox "Name"'), text: "Ada" });
    await act("browser_click", { element: "Buy", target: ref('button "Buy"') });
    await look("browser_wait_for", { text: "Thank you" });
    seen.answer = first((await look("browser_snapshot")).text, /(Thank you[^"\n]*)/);
    seen.sum = (await look("browser_evaluate", { function: "() => 6 * 7" })).text.includes("42");
    seen.logged = (await look("browser_console_messages", { level: "info" })).text.includes("[LOG] Thank you, Ada: 42");
    seen.requests = (await look("browser_network_requests", { static: false })).text.includes(`/price/${name}`);
    seen.screenshot = size((await look("browser_take_screenshot", { type: "png" })).image);
    await act("browser_click", { element: "Next", target: ref('link "Next"') });
    seen.next = first((await look("browser_snapshot")).text, /Page Title: (.*)/);
    await act("browser_tabs", { action: "close" });
    return seen;
  });
}

/** What an agent sees by chrome-devtools-mcp. */
export function devToolsMcp({ address, headers, site, name, window }) {
  const where = address.startsWith("ws") ? ["--wsEndpoint", address] : ["--browserUrl", address];
  if (headers) where.push("--wsHeaders", JSON.stringify(headers));
  return withServer(devTools, [...where, "--no-usage-statistics", "--no-performance-crux"], window, async (call) => {
    const seen = { shared: (await looking(call)("list_pages")).text.includes(`${site}/shop/shared`) };
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
