// The coordinator's program, for those who start it from here, and for those who enter it elsewhere.

import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { homeDirectory } from "../core/files/home";
import { type Log, reason } from "../core/log";
import { bundled, findProgram, lastingCommand, type Surroundings } from "../core/setup/program";
import { isProgram, keepCopy, renewCopy } from "../core/setup/programcopy";
import { reportError } from "./notifications";

export const workspaceVariable = "BROWSER_COORDINATOR_WORKSPACE";

/** The coordinator's program: the setting's, else the bundled one, else PATH's. Throws NoCoordinator. */
export function findCoordinator(extension: vscode.Uri): Promise<string> {
  return findProgram(surroundings(extension), isProgram);
}

/** The command that starts the coordinator from a host's configuration, also after updates of the extension. */
export function coordinatorCommand({ extensionUri, globalStorageUri }: vscode.ExtensionContext): Promise<string> {
  const keep = (program: string) => keepCopy(program, copies(globalStorageUri));
  return lastingCommand(surroundings(extensionUri), isProgram, keep);
}

/** Makes entries that were written earlier start this version of the extension's coordinator. */
export async function renewCoordinator(context: vscode.ExtensionContext, log: Log): Promise<void> {
  const { extensionUri, globalStorageUri } = context;
  const program = bundled({ platform: process.platform, extension: extensionUri.fsPath });
  try {
    await renewCopy(program, copies(globalStorageUri));
  } catch (error) {
    log.warn(`the copy of the coordinator that agents start is an older one: ${reason(error)}`);
  }
}

function copies(storage: vscode.Uri): string {
  return join(storage.fsPath, "bin");
}

function surroundings(extension: vscode.Uri): Surroundings {
  const setting = vscode.workspace.getConfiguration("browserCoordinator").get("coordinatorPath", "");
  const { platform, env } = process;
  return { platform, setting, home: homeDirectory, extension: extension.fsPath, path: env.PATH };
}

/** Shows what is wrong with the coordinator's program, and opens the setting of its path. */
export async function offerToFindCoordinator(problem: string): Promise<void> {
  const settings = l10n.t("Open Settings");
  const picked = await reportError(`Browser Coordinator: ${problem}.`, settings);
  if (!picked) return;
  // The setting is one of the machine that the extension runs on: elsewhere the user's own do not list it.
  const which = vscode.env.remoteName ? "openRemoteSettings" : "openSettings";
  const query = "browserCoordinator.coordinatorPath";
  await vscode.commands.executeCommand(`workbench.action.${which}`, { query });
}
