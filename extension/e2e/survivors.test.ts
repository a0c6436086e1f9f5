// Agents that outlive their window: an idle one that lost a peer waits for events, and uses no processor.
// coordinator/survivors_linux_test.go kills everyone else. The VS Code is another than the run's, since it is killed.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { installed } from "./setup.mjs";
import { Agent } from "./support/agent";
import { startServer } from "./support/codeserver";
import { commandLine, marked, newMark, processorTime } from "./support/processes";
import { thisRun } from "./support/run";
import { openShop, type Shop } from "./support/shop";
import { addressOf } from "./support/socket";
import { StandIn } from "./support/standin";
import { openScreen, Workbench } from "./support/workbench";

const run = thisRun();
const variable = "BROWSER_COORDINATOR_KILLED";
const mark = newMark();
let screen: BrowserContext;
let shop: Shop;
let address: string;
let window: Workbench;
let agents: Agent[];

/** The processes of this VS Code, without those that it has started for others. */
function vscode(): number[] {
  return marked(mark, variable).filter((pid) => commandLine(pid).includes(installed));
}

/** Both agents look at a page that the window debugs. */
async function connect(): Promise<void> {
  await agents[0]?.use("debug_start", { configuration: "Shop" });
  for (const agent of agents) await agent.use("browser_wait_for", { text: "Your name" });
}

/** The processor time, in milliseconds, that each agent uses in that time. */
async function uses(time: number): Promise<number[]> {
  const before = agents.map(({ pid }) => processorTime(pid));
  await after(time); // what is measured is the use of the processor in that time
  return agents.map(({ pid }, index) => processorTime(pid) - (before[index] as number));
}

/** Waits until the agents have settled; what never settles is measured too. */
async function useAtRest(): Promise<number[]> {
  const end = performance.now() + 60_000;
  while ((await uses(1_000)).some((used) => used > 20) && performance.now() < end);
  return uses(10_000);
}

async function requireIdle(): Promise<void> {
  const used = await useAtRest();
  console.log(`the agents use ${used.join(" and ")} ms of processor in 10 s`);
  expect(Math.max(...used)).toBeLessThanOrEqual(100);
}

beforeAll(async () => {
  const user = join(run.root, "killed");
  for (const kind of ["User", "Machine"])
    cpSync(join(run.root, "user", kind, "settings.json"), join(user, kind, "settings.json"));
  const env = { ...run.env, [variable]: mark };
  const { url } = await startServer({ ...run, env }, user, "--disable-workspace-trust");
  screen = await openScreen(run);
  shop = await openShop(run, "survivors");
  address = await addressOf(run, shop.folder);
  window = await Workbench.open({ ...run, url }, screen, `folder=${shop.folder}`);
  (await StandIn.join(address)).close();
  agents = await Promise.all([1, 2].map(() => Agent.start(run, shop.folder, "--no-launch")));
});

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await window.screenshot(`failed ${task.name}`);
});

afterAll(async () => {
  await Promise.all((agents ?? []).map((agent) => agent.close()));
  await screen?.close();
  await shop?.close();
  for (const pid of vscode()) process.kill(pid, "SIGKILL"); // none, unless a test has failed
});

test("agents whose window's extension host was killed are idle, and at the next one", async () => {
  await connect();
  const host = await StandIn.join(address);
  process.kill(await host.pid(), "SIGKILL");
  await host.ended();
  (await StandIn.join(address)).close();
  await requireIdle();
});

test("agents whose VS Code was killed are idle", async () => {
  await connect();
  const host = await StandIn.join(address);
  const all = vscode();
  expect(all).toContain(await host.pid());
  for (const pid of all) process.kill(pid, "SIGKILL");
  await host.ended();
  await requireIdle();
});
