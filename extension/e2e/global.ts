// Once for all tests: for each worker the packaged extension in a real VS Code, in folders that are gone afterwards.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { findBrowser } from "../test/support/findbrowser";
import { installed, setUp } from "./setup.mjs";
import { codeServer, makeBuiltIn, placesOf, startServer } from "./support/codeserver";
import { endMarked, markVariable, newMark } from "./support/processes";
import type { Run } from "./support/run";
import { workers } from "./support/workers";

const extension = fileURLToPath(new URL("..", import.meta.url));
const repository = fileURLToPath(new URL("../..", import.meta.url));

const settings = {
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.reduceMotion": "on", // what moves is clicked elsewhere, and photographed half
  "extensions.ignoreRecommendations": true,
  "extensions.autoCheckUpdates": false,
  "telemetry.telemetryLevel": "off",
  "git.enabled": false,
  "files.hotExit": "off",
  "debug.openDebug": "neverOpen",
  "debug.internalConsoleOptions": "neverOpen",
  "editor.minimap.enabled": false,
  "editor.hover.enabled": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "browserCoordinator.addDebuggingPort": "always", // whoever else uses the machine; port.test.ts has the default
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  setUp();
  const root = mkdtempSync(join(tmpdir(), "bc-e2e-"));
  const marks = Array.from({ length: workers }, newMark);
  const leave = async () => {
    const killed = (await Promise.all(marks.map(endMarked))).reduce((sum, each) => sum + each, 0);
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    if (killed > 0) throw new Error(`${killed} processes of the run did not end when asked`);
  };
  try {
    const programs = build(root);
    const runs = marks.map((mark, index) => start(join(root, String(index + 1)), mark, programs));
    project.provide("runs", await Promise.all(runs));
  } catch (error) {
    await leave();
    throw error;
  }
  return leave;
}

interface Programs {
  packed: string;
  coordinator: string;
  chromedp: string;
}

/** What all the runs share. */
function build(root: string): Programs {
  const packed = join(extension, "dist", "browser-coordinator.vsix");
  execFileSync("npm", ["run", "--silent", "package"], { cwd: extension, stdio: ["ignore", "ignore", "inherit"] });
  // One that is built already, a release for instance, can be tested too.
  const given = process.env.BROWSER_COORDINATOR_PROGRAM;
  const coordinator = given ?? join(root, "bin", "coordinator");
  if (!given) goBuild(coordinator, "./coordinator");
  const chromedp = join(root, "bin", "chromedp");
  goBuild(chromedp, "./extension/e2e/clients/chromedp");
  return { packed, coordinator, chromedp };
}

async function start(root: string, mark: string, { packed, coordinator, chromedp }: Programs): Promise<Run> {
  const folder = (name: string) => {
    mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
    return join(root, name);
  };
  const sockets = folder("data/browser-coordinator-mcp");
  const artifacts = join(repository, "artifacts", "e2e");
  mkdirSync(artifacts, { recursive: true });
  const env: Record<string, string> = {
    ...(Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >),
    HOME: folder("home"),
    XDG_DATA_HOME: join(root, "data"),
    XDG_STATE_HOME: folder("state"),
    XDG_CONFIG_HOME: folder("config"),
    XDG_CACHE_HOME: folder("cache"),
    XDG_RUNTIME_DIR: folder("runtime"),
    TMPDIR: folder("tmp"),
    [markVariable]: mark,
    PATH: [join(installed, "node_modules", "node", "bin"), dirname(chromedp), process.env.PATH].join(delimiter),
  };
  const browser = findBrowser();

  writeFileSync(join(root, "config", "code-server.yaml"), "auth: none\n");
  folder("extensions");
  makeBuiltIn(root);
  const user = folder("user");
  mkdirSync(join(user, "User"));
  writeFileSync(join(user, "User", "settings.json"), JSON.stringify(settings));
  // The extension host takes its PATH from a login shell, not from us.
  mkdirSync(join(user, "Machine"));
  const machine = { "browserCoordinator.coordinatorPath": coordinator };
  writeFileSync(join(user, "Machine", "settings.json"), JSON.stringify(machine));
  await promisify(execFile)(codeServer, [...placesOf(root, user), "--install-extension", packed], { env });

  const { url } = await startServer({ root, env, artifacts }, user, "--disable-workspace-trust");
  return { root, url, env, sockets, browser, coordinator, chromedp, artifacts };
}

function goBuild(target: string, folder: string): void {
  execFileSync("go", ["build", "-o", target, folder], {
    cwd: repository,
    env: { ...process.env, GOWORK: "off" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}
