// A window with a real browser and its endpoint, as `coordinator window` makes one, in folders that
// are gone afterwards. A client that runs as a process of its own gets `env`.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { bin } from "./programs.mjs";

const run = promisify(execFile);

/** Opens the window with `page` as its first page, and more flags of `coordinator window`. */
export async function openWindow(page, ...flags) {
  const root = mkdtempSync(join(tmpdir(), "bc-clients-"));
  try {
    return await open(root, page, flags);
  } catch (error) {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

async function open(root, page, flags) {
  const folder = (name) => {
    mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
    return join(root, name);
  };
  const env = {
    ...process.env,
    HOME: folder("home"),
    TMPDIR: folder("tmp"),
    XDG_CACHE_HOME: folder("cache"),
    XDG_CONFIG_HOME: folder("config"),
    XDG_DATA_HOME: folder("data"),
    XDG_STATE_HOME: folder("state"),
  };
  const coordinator = join(bin, "coordinator");
  const browser = execFileSync(join(bin, "findbrowser"), { encoding: "utf8", env }).trim();

  // The DevTools front end is let in by the endpoint; by a browser only when it is told to.
  const executable = join(root, "browser");
  writeFileSync(executable, `#!/bin/sh\nexec '${browser}' --remote-allow-origins=devtools://devtools "$@"\n`);
  chmodSync(executable, 0o755);

  const workspace = folder("workspace");
  const args = ["window", "--headless", "--workspace", workspace, "--executable", executable, "--url", page, ...flags];
  // The shell ends the window when its own input ends: also when this process is killed.
  const guard = 'name=$1; shift; "$name" "$@" & read -r _; kill -TERM $!; wait $!';
  const command = ["-c", guard, "guard", coordinator, ...args];
  const child = spawn("/bin/sh", command, { env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(createInterface({ input: child.stdout }), "line"); // the address: all is ready
  const ask = async (...args) => JSON.parse((await run(coordinator, args, { env })).stdout);
  const { url, tokenUrl } = await ask("endpoint", "--workspace", workspace, "--json");
  const { windows } = await ask("status", "--json");
  const direct = new URL(windows[0].browser.url);
  const [secret] = direct.pathname.split("/devtools/"); // of a pipe, before all paths
  const path = direct.pathname.slice(secret.length);
  return {
    env,
    root,
    browser,
    bin,
    /** The browser itself (with --debugging-port), or what serves its pipe: its http address, and its WebSocket's. */
    direct: { http: `http://${direct.host}${secret}`, ws: direct.href },
    /** The endpoint, without and with its token in the path. */
    endpoint: { http: url, ws: `${url.replace("http", "ws")}${path}` },
    mounted: { http: tokenUrl, ws: `${tokenUrl.replace("http", "ws")}${path}` },
    token: new URL(tokenUrl).pathname.split("/")[1],
    /** Ends the window, whose exit code must be one of `codes`. */
    async close(codes = [0]) {
      child.stdin.end();
      const [code] = await ended;
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      if (!codes.includes(code)) throw new Error(`the coordinator ended with ${code}`);
    },
  };
}
