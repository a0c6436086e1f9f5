// What clients see of the browser in which their user works. Its debugging port stands for the
// question that the user answers in it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { playwright } from "../clients/playwright.mjs";
import { chromedp, rod } from "../clients/programs.mjs";
import { puppeteer24At, puppeteer25At } from "../clients/puppeteer.mjs";
import { bin } from "./support/programs.mjs";
import { openSite } from "./support/site.mjs";

const root = mkdtempSync(join(tmpdir(), "bc-own-"));
const started = [];
let site;
let direct; // the address of the browser itself
let endpoint;

const env = { ...process.env };
for (const [name, path] of Object.entries({
  HOME: "home",
  TMPDIR: "tmp",
  XDG_CACHE_HOME: "cache",
  XDG_CONFIG_HOME: "config",
  XDG_DATA_HOME: "data",
  XDG_STATE_HOME: "state",
})) {
  env[name] = join(root, path);
  mkdirSync(env[name], { mode: 0o700 });
}

/** Starts a program, which ends with its input: also when this process is killed. */
function start(...command) {
  const guard = '"$@" & read -r _; kill -TERM $!; wait $!';
  const child = spawn("/bin/sh", ["-c", guard, "guard", ...command], { env, stdio: ["pipe", "pipe", "ignore"] });
  started.unshift(child);
  return child;
}

before(async () => {
  site = await openSite();
  const profile = join(root, "profile");
  mkdirSync(profile, { mode: 0o700 });
  const browser = execFileSync(join(bin, "findbrowser"), { encoding: "utf8", env }).trim();
  start(browser, "--headless", "--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${profile}`,
    "--no-first-run", `${site.url}/shop/shared`);
  const file = join(profile, "DevToolsActivePort");
  while (!existsSync(file) || !readFileSync(file, "utf8").includes("\n/")) await sleep(20);
  direct = `http://127.0.0.1:${readFileSync(file, "utf8").split("\n")[0]}`;
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const serve = start(join(bin, "coordinator"), "serve", "--attach", profile, "--access", "full",
    "--workspace", workspace);
  [endpoint] = await once(createInterface({ input: serve.stdout }), "line");
});

after(async () => {
  for (const child of started) {
    child.stdin.end();
    await once(child, "exit");
  }
  await site?.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

for (const [name, client] of [
  ["Playwright", playwright],
  ["Puppeteer 24", puppeteer24At],
  ["Puppeteer 25", puppeteer25At],
  ["chromedp", chromedp],
  ["rod", rod],
]) {
  test(`${name} in the user's own browser`, { timeout: 60_000 }, async () => {
    const see = (address) => client({ address, site: site.url, name: "mine", window: { bin, env } });
    const all = await see(direct);
    assert.equal(all.shared, true, "the browser has the user's tab");
    assert.deepEqual(await see(endpoint), { ...all, shared: false });
  });
}
