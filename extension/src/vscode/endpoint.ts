// This window's stable endpoint. The coordinator knows it: the port that it chose once is remembered
// beside its own files.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { findCoordinator } from "./coordinator";

const run = promisify(execFile);
const runLimit = 5_000;

export interface Endpoint {
  /** For processes of the same user, on Linux. */
  url: string;
  /** For whoever knows it, everywhere. */
  tokenUrl: string;
  /** Whether a coordinator serves it now. */
  served: boolean;
}

/** The coordinator's program is not there. */
export class NoCoordinator extends Error {}

export async function askEndpoint(extension: vscode.Uri, workspace: string): Promise<Endpoint> {
  const program = await findCoordinator(extension);
  if (!program) throw new NoCoordinator("the coordinator is not installed");
  const args = ["endpoint", "--json", "--workspace", workspace];
  const { stdout } = await run(program, args, { timeout: runLimit, windowsHide: true });
  return JSON.parse(stdout) as Endpoint;
}

/** What a client of this machine needs to know. */
export function clientUrl({ url, tokenUrl }: Endpoint): string {
  return process.platform === "linux" ? url : tokenUrl;
}

/** Says that there is no coordinator, and where to say where it is. */
export async function offerToFindCoordinator(): Promise<void> {
  const settings = "Open Settings";
  const picked = await vscode.window.showErrorMessage(
    "The coordinator is not on PATH. Install it, or say where it is in the settings.",
    settings,
  );
  if (picked)
    await vscode.commands.executeCommand("workbench.action.openSettings", "browserCoordinator.coordinatorPath");
}
