// This window's stable endpoint. The coordinator knows it: the port that it chose once is remembered
// beside its own files.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { findCoordinator } from "./coordinator";
import { inform, warn } from "./notifications";

const run = promisify(execFile);
const runLimit = 5_000;

export interface Endpoint {
  /** For processes of the same user. */
  url: string;
  /** For every process that knows the token. */
  tokenUrl: string;
  /** Whether a coordinator serves it now. */
  served: boolean;
  /** Whether `url` is refused: on systems other than Linux, and where the server requires the token. */
  tokenRequired: boolean;
}

export async function askEndpoint(extension: vscode.Uri, workspace: string): Promise<Endpoint> {
  const program = await findCoordinator(extension);
  const args = ["endpoint", "--json", "--workspace", workspace];
  const { stdout } = await run(program, args, { timeout: runLimit, windowsHide: true });
  return JSON.parse(stdout) as Endpoint;
}

/** What a client of this machine needs to know. */
export function clientUrl({ url, tokenUrl, tokenRequired }: Endpoint): string {
  return tokenRequired ? tokenUrl : url;
}

/** Shows what was copied; for an endpoint that is not served also that, with a button to serve it. */
export async function reportCopied(message: string, { served }: Endpoint, serve: () => Promise<void>): Promise<void> {
  if (served) {
    inform(message);
    return;
  }
  const start = l10n.t("Start Serving");
  const now = l10n.t("Nothing is listening there yet: connect an agent, or run `coordinator serve`.");
  if ((await warn(`${message} ${now}`, start)) === start) await serve();
}

/** Serves the endpoint in a terminal, where the user sees it and can end it. */
export async function startServing(extension: vscode.Uri, workspace: string): Promise<void> {
  const terminal = vscode.window.createTerminal({
    name: "Browser Coordinator",
    shellPath: await findCoordinator(extension),
    shellArgs: ["serve", "--workspace", workspace],
    iconPath: new vscode.ThemeIcon("plug"),
    isTransient: true, // a window that is reloaded would start a shell in its place
  });
  terminal.show(true);
}
