// Every command line and every snippet of the guides, run as a reader would: in one folder from top to
// bottom, by a shell. A fence's word after the language says how:
//
//   sh             it ends, with the exit code 0
//   sh stays       it prints something and goes on until the guide's end, as in another terminal
//   sh by-hand     it is run by the test that `elsewhere` names
//   js             its first line names the file
//   json           it must be JSON
//   toml user      it is the reader's config.toml, in which the coordinator finds no fault
//   toml project   likewise, that of the folder
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bin } from "./support/programs.mjs";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

const elsewhere = {
  "go tool task demo": "internal/demo",
  "go tool task test": "all of them",
  "go install ./coordinator": "internal/release, as a build",
  "go tool task package -- linux-x64": "go tool task test:package",
  "code --install-extension": "extension/e2e",
  "coordinator setup ": "coordinator/testdata/script/setup.txtar",
  "coordinator window --profile": "coordinator/testdata/script/browser-flags.txtar",
  "coordinator window --attach": "coordinator/provider, with a server that stands for the provider",
};

// What the guides' commands find.
const shopPage = `<!doctype html><title>Shop</title><h1>Shop</h1>
<form onsubmit="said.textContent = name.value ? 'Thank you' : 'Your name, please'; return false">
<label>Name <input id=name></label> <button>Order</button> <p id=said role=status></form>`;

let site;
let port; // a free one, for hosts over HTTP
let grid; // a Selenium Grid, for the guide to it

before(async () => {
  site = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end(shopPage);
  });
  await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
  const other = createServer();
  await new Promise((listening) => other.listen(0, "127.0.0.1", listening));
  port = other.address().port;
  await new Promise((closed) => other.close(closed));
});

after(() => site?.close());

const guides = ["README.md", ...readdirSync(join(repository, "docs")).map((name) => `docs/${name}`)];
for (const guide of guides) {
  test(guide, { timeout: 300_000 }, async () => {
    const place = furnish();
    const staying = [];
    try {
      if (guide === "docs/grid.md") grid = await startGrid();
      for (const block of blocksOf(guide)) await run(block, place, staying);
    } finally {
      for (const program of staying.reverse()) await program.end();
      await ends("coordinator close --all", place.shop, place.env);
      await grid?.end();
      grid = undefined;
      rmSync(place.root, { recursive: true, force: true, maxRetries: 5 });
    }
  });
}

function blocksOf(guide) {
  const text = readFileSync(join(repository, guide), "utf8");
  const fenced = text.matchAll(/^( *)```(\w+)(?: (.*))?\n([^]*?)^ *```$/gm);
  return [...fenced].map(([, indent, language, how = "", body]) => ({
    language,
    how,
    body: body
      .replaceAll(new RegExp(`^${indent}`, "gm"), "")
      .replaceAll("http://localhost:3000", address())
      .replaceAll("127.0.0.1:9300", `127.0.0.1:${port}`)
      .replaceAll("http://localhost:4444", grid?.url),
  }));
}

async function startGrid() {
  const child = spawn("go", ["run", "./internal/gridtest/run"], {
    cwd: repository,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  assert.equal(child.exitCode, null, "the grid has not started");
  return {
    url: `${line}`.trim(),
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

const address = () => `http://127.0.0.1:${site.address().port}`;

/** A reader's folder and home, with the packages that a reader has installed there. */
function furnish() {
  const root = mkdtempSync(join(tmpdir(), "bc-docs-"));
  const folder = (name) => {
    mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
    return join(root, name);
  };
  const shop = folder("shop");
  folder("shop/node_modules/@modelcontextprotocol");
  folder("shop/node_modules/@playwright");
  folder("shop/node_modules/.bin");
  for (const [name, target] of [
    ["playwright-core", "playwright-core"],
    ["puppeteer-core", "puppeteer-25"],
    ["@playwright/test", "@playwright/test"],
    ["@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk"],
    [".bin/playwright", ".bin/playwright"],
  ]) {
    symlinkSync(join(modules, target), join(shop, "node_modules", name));
  }
  const go = JSON.parse(
    execFileSync("go", ["env", "-json", "GOPATH", "GOCACHE", "GOMODCACHE"], { cwd: repository, encoding: "utf8" }),
  );
  const env = {
    ...process.env,
    ...go,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: folder("home"),
    TMPDIR: folder("tmp"),
    XDG_CACHE_HOME: folder("cache"),
    XDG_CONFIG_HOME: folder("config"),
    XDG_DATA_HOME: folder("data"),
    XDG_STATE_HOME: folder("state"),
  };
  return { root, shop, env };
}

async function run({ language, how, body }, { shop, env }, staying) {
  switch (`${language} ${how}`.trim()) {
    case "js": {
      const [, name] = body.match(/^\/\/ (\S+\.mjs)\n/);
      return writeFileSync(join(shop, name), body);
    }
    case "json":
      return JSON.parse(body);
    case "toml user":
      return configured(join(env.XDG_CONFIG_HOME, "browser-coordinator"), body, shop, env);
    case "toml project":
      return configured(join(shop, ".browser-coordinator"), body, shop, env);
    case "text":
      return;
    case "sh by-hand":
      for (const line of body.trim().split("\n")) {
        const known = Object.keys(elsewhere).some((start) => line.startsWith(start));
        assert.ok(known, `no test is named that runs: ${line}`);
      }
      return;
    case "sh stays":
      return staying.push(await stay(body, shop, env));
    case "sh":
      return ends(body, shop, env);
  }
  assert.fail(`a block of an unknown kind: ${language} ${how}\n${body}`);
}

/** The coordinator takes the flags of a config.toml. */
function configured(folder, body, shop, env) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "config.toml");
  writeFileSync(file, body, { mode: 0o600 });
  try {
    const { stdout } = spawnSync("coordinator", ["doctor", "--json"], { cwd: shop, env, encoding: "utf8" });
    const { findings } = JSON.parse(stdout).checks.find(({ id }) => id === "config");
    assert.deepEqual(findings.filter(({ verdict }) => verdict !== "ok"), []);
    assert.ok(findings.some(({ text }) => text.includes(file)), JSON.stringify(findings));
  } finally {
    rmSync(file);
  }
}

async function ends(script, cwd, env) {
  const child = spawn("/bin/sh", ["-e", "-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      output += data;
    });
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${script}\n${output}`);
}

async function stay(script, cwd, env) {
  const child = spawn("/bin/sh", ["-c", `exec ${script}`], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  const ended = once(child, "close");
  const shows = new Promise((done) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        output += data;
        if (!`${data}`.startsWith("coordinator: running as root")) done(); // which readers do not
      });
    }
  });
  await Promise.race([shows, ended]);
  assert.equal(child.exitCode, null, `${script}\n${output}`);
  return {
    async end() {
      child.stdin.end();
      child.kill("SIGTERM");
      const [code, signal] = await ended;
      assert.ok(code === 0 || signal === "SIGTERM", `${script} ended with ${code}\n${output}`);
    },
  };
}
