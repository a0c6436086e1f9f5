// Installs the VS Code that the end-to-end tests drive, once for each version, outside the repository.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const codeServer = "4.139.1";
const node = "24.17.0"; // not 24.21: js-debug's `port` launch breaks there

const cacheHome = process.env.XDG_CACHE_HOME;
const cache = join(
  cacheHome && isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"),
  "browser-coordinator-dev",
);

/** Where the installed VS Code is. */
export const installed = join(cache, `code-server-${codeServer}-node-${node}`);
const marker = join(installed, ".complete");

function print(text) {
  process.stderr.write(`e2e set-up: ${text}\n`);
}

function install() {
  mkdirSync(cache, { recursive: true });
  // Beside the target, so that the rename is one step: a broken download never counts.
  const partial = mkdtempSync(`${installed}.partial-`);
  try {
    writeFileSync(join(partial, "package.json"), '{ "private": true }\n');
    const npm = (what, env = process.env) => {
      print(`npm install ${what} (into ${installed})`);
      const args = ["install", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error", what];
      // Its output is progress, and standard output may be somebody's answer.
      const { status, error } = spawnSync("npm", args, {
        cwd: partial,
        env,
        stdio: ["ignore", 2, 2],
        shell: process.platform === "win32",
      });
      if (error) throw error;
      if (status !== 0) throw new Error(`npm install ${what} failed`);
    };
    npm(`node@${node}`);
    // The server's native modules are built for the Node that runs it.
    const bin = join(partial, "node_modules", "node", "bin");
    npm(`code-server@${codeServer}`, { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` });
    const entry = join(partial, "node_modules", ".bin", "code-server");
    const config = join(partial, "config.yaml");
    writeFileSync(config, "auth: none\n"); // else it writes one into the home directory
    const trial = join(partial, "trial");
    const check = spawnSync(join(bin, "node"), [entry, "--config", config, "--user-data-dir", trial, "--version"], {
      encoding: "utf8",
      env: { ...process.env, XDG_DATA_HOME: trial, XDG_CONFIG_HOME: trial },
    });
    rmSync(trial, { recursive: true, force: true });
    if (check.status !== 0) throw new Error(`code-server does not start: ${check.stderr || check.error}`);
    print(check.stdout.trim());
    writeFileSync(join(partial, ".complete"), `${new Date().toISOString()}\n`);
    rmSync(installed, { recursive: true, force: true });
    renameSync(partial, installed);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Installs it unless it is installed. */
export function setUp() {
  if (process.platform !== "linux")
    throw new Error("the end-to-end tests run on Linux only: code-server's packages need it");
  if (existsSync(marker)) return;
  print("VS Code (code-server) is not there yet; this takes some minutes and 620 MB, once");
  try {
    install();
  } catch (error) {
    throw new Error(
      `${error.message}\nIf a native module could not be built, install what it needs and try again:\n` +
        "  apt-get install -y --no-install-recommends build-essential python3 pkg-config " +
        "libkrb5-dev libx11-dev libxkbfile-dev libsecret-1-dev",
    );
  }
  print(`done: ${dirname(marker)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    setUp();
  } catch (error) {
    print(error.message);
    process.exit(1);
  }
}
