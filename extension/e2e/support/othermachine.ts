// Another machine: a network namespace with nothing but its own loopback, and a mount namespace that lacks the
// workspace's files. VS Code's companion of js-debug runs
// there and launches the browsers. Between it and this machine is what VS Code has between them for a remote window:
// js-debug's commands, and connections to the ports of this machine that VS Code forwards.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { builtIn, leftOut } from "./codeserver";
import type { Run } from "./run";

const parts = fileURLToPath(new URL("../othermachine", import.meta.url));
const alone = ["--net", "--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
const asOther = 'mount -t tmpfs none "$0" && ip link set lo up && exec "$@"';

/** Why there can be no other machine here; undefined if there can. */
export function reasonAgainst(): string | undefined {
  const tried = spawnSync("unshare", [...alone, "sh", "-c", asOther, tmpdir(), "true"], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `this system permits no namespaces: ${tried.error?.message ?? tried.stderr.trim()}`;
}

export class OtherMachine {
  private constructor(
    private readonly child: ChildProcess,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Without the files of one folder. */
  static async start(run: Run, folder: string, without: string): Promise<OtherMachine> {
    const companion = join(builtIn, "ms-vscode.js-debug-companion", "out", "extension.js");
    const program = [process.execPath, join(parts, "main.cjs"), companion, folder];
    const child = spawn("unshare", [...alone, "sh", "-c", asOther, without, ...program], {
      env: run.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface({ input: child.stdout as Readable }), "line");
    return new OtherMachine(child, run.env);
  }

  /** Runs a program there, and answers with its output. */
  run(...command: string[]): string {
    // In the user namespace too, if it has one.
    const enter = [
      "--target",
      `${this.child.pid}`,
      "--net",
      ...(alone.includes("--map-root-user") ? ["--user", "--preserve-credentials"] : []),
    ];
    const { stdout, stderr, status } = spawnSync("nsenter", [...enter, ...command], {
      env: this.env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
    return stdout;
  }

  async close(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill();
    await ended;
  }
}

/**
 * Makes the folder of a VS Code server whose js-debug launches browsers on another machine, with the extensions of
 * the run. Its screen is a web page, from which js-debug launches none, so that one condition is taken out.
 */
export function makeRemote(run: Run, root: string): void {
  mkdirSync(join(root, "config"), { recursive: true });
  writeFileSync(join(root, "config", "code-server.yaml"), "auth: none\n");
  symlinkSync(join(run.root, "extensions"), join(root, "extensions"));
  for (const kind of ["User", "Machine"])
    cpSync(join(run.root, "user", kind, "settings.json"), join(root, "user", kind, "settings.json"));
  const [debug, companion] = ["ms-vscode.js-debug", "ms-vscode.js-debug-companion"];
  mkdirSync(join(root, "builtin"));
  for (const name of readdirSync(builtIn).filter((each) => !leftOut.test(each) && each !== debug && each !== companion))
    symlinkSync(join(builtIn, name), join(root, "builtin", name));
  cpSync(parts, join(root, "builtin", companion), { recursive: true });
  cpSync(join(builtIn, debug), join(root, "builtin", debug), { recursive: true });
  const program = join(root, "builtin", debug, "src", "extension.js");
  const text = readFileSync(program, "utf8");
  const patched = text.replace(
    /if\((\w+)\.env\.uiKind===\1\.UIKind\.Web\)return \1\.debug\.stopDebugging/,
    "if(!1)return $1.debug.stopDebugging",
  );
  if (patched === text) throw new Error("js-debug has no longer the condition for web pages");
  writeFileSync(program, patched);
}
