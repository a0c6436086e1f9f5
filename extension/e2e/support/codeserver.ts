// The real VS Code as a server, in the folders of the run.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { installed } from "../setup.mjs";
import type { Run } from "./run";

export const codeServer = join(installed, "node_modules", ".bin", "code-server");

export const builtIn = join(installed, "node_modules", "code-server", "lib", "vscode", "extensions");
/** What starts in every window and that no test needs. */
export const leftOut = /^(copilot|emmet|git|git-base|github.*|html-language-features|typescript-language-features)$/;

/** Makes the folder of the extensions that it brings along. */
export function makeBuiltIn(root: string): void {
  mkdirSync(join(root, "builtin"));
  for (const name of readdirSync(builtIn).filter((each) => !leftOut.test(each)))
    symlinkSync(join(builtIn, name), join(root, "builtin", name));
}

/** The flags for its folders; user is where settings and windows are kept. */
export function placesOf(root: string, user: string): string[] {
  const config = join(root, "config", "code-server.yaml");
  const extensions = ["--extensions-dir", join(root, "extensions"), "--builtin-extensions-dir", join(root, "builtin")];
  return ["--config", config, "--user-data-dir", user, ...extensions];
}

/** Starts it, and answers with its address once it listens. */
export async function startServer(
  { root, env, artifacts }: Pick<Run, "root" | "env" | "artifacts">,
  user: string,
  ...more: string[]
): Promise<{ url: string; child: ChildProcess }> {
  const flags = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--bind-addr", "127.0.0.1:0"];
  // A page that goes soon after it came may go without a word to its extension host, which then waits for it.
  flags.push("--reconnection-grace-time", "2");
  const log = openSync(join(artifacts, `code-server-${basename(root)}-${basename(user)}.log`), "w");
  const args = [...placesOf(root, user), ...flags, ...more];
  const child = spawn(codeServer, args, { env, stdio: ["ignore", "pipe", log] });
  closeSync(log);
  const url = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`code-server ended with ${code} before it listened`)));
    createInterface({ input: child.stdout as Readable }).on("line", (line) => {
      const found = /HTTP server listening on (http:\/\/127\.0\.0\.1:[0-9]+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
  });
  return { url, child };
}
