// The coordinator's commands, as a script would use them.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Run } from "./run";

const execute = promisify(execFile);

export interface WindowRow {
  address: string;
  workspace: string | null;
  kind: string;
  browser: { url: string; product?: string } | null;
  endpoint: { url: string };
}

export async function coordinator(run: Run, ...args: string[]): Promise<string> {
  const { stdout } = await execute(run.coordinator, args, { env: run.env, cwd: run.root, timeout: 60_000 });
  return stdout;
}

export async function windows(run: Run): Promise<WindowRow[]> {
  return (JSON.parse(await coordinator(run, "status", "--json")) as { windows: WindowRow[] }).windows;
}

export async function endpoint(run: Run, folder: string): Promise<string> {
  return (await coordinator(run, "endpoint", "--workspace", folder)).trim();
}

/** What chromedp sees through an endpoint. */
export async function chromedp(
  run: Run,
  address: string,
  url: string,
): Promise<{ title: string; sum: number; pages: string[] }> {
  const { stdout } = await execute(run.chromedp, [address, url], { env: run.env, timeout: 60_000 });
  return JSON.parse(stdout);
}

export interface StatusRow {
  workspace: string | null;
  clients: { name: string; last: { text: string } | null }[];
}

/** What `coordinator status` shows. */
export async function status(run: Run): Promise<{ windows: StatusRow[] }> {
  return JSON.parse(await coordinator(run, "status", "--json"));
}
