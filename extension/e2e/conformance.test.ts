// The official conformance suite of MCP, for what applies to a server with tools of its own: most of its scenarios call
// tools that a server has for the suite alone. It speaks HTTP only, so that a bridge stands between.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installed } from "./setup.mjs";
import { Bridge } from "./support/bridge";
import { thisRun } from "./support/run";

const run = thisRun();
const node = join(installed, "node_modules", "node", "bin", "node"); // the suite needs Node 22
const suite = fileURLToPath(
  new URL("../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
let folder: string;
let bridge: Bridge;

beforeAll(async () => {
  folder = await mkdtemp(join(run.root, "conformance-"));
  bridge = await Bridge.open(run, folder);
});

afterAll(async () => {
  await bridge?.close();
  await rm(folder, { recursive: true, force: true });
});

async function passes(scenario: string): Promise<void> {
  const args = [suite, "server", "--url", bridge.url, "--scenario", scenario];
  const { stdout } = await promisify(execFile)(node, args, { cwd: folder, env: run.env, timeout: 60_000 });
  expect(stdout, scenario).toMatch(/0 failed/);
}

test.each(["server-initialize", "ping", "tools-list"])("%s", (scenario) => passes(scenario));

test("what the server declares", async () => {
  const client = new Client({ name: "e2e", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(bridge.url)));
  const capabilities = client.getServerCapabilities();
  await client.close();
  expect(Object.keys(capabilities ?? {})).toEqual(expect.arrayContaining(["logging", "prompts", "resources", "tools"]));
});

test.each(["logging-set-level", "resources-list", "prompts-list"])("%s", (scenario) => passes(scenario));
