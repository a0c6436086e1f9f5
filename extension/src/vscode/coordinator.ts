// The coordinator's program, for those who start it from here.
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { findProgram } from "../core/program";

export const workspaceVariable = "BROWSER_COORDINATOR_WORKSPACE";

/** The coordinator's program: the setting's, else the bundled one, else PATH's. */
export function findCoordinator(extension: vscode.Uri): Promise<string | undefined> {
  const setting = vscode.workspace.getConfiguration("browserCoordinator").get("coordinatorPath", "");
  const { platform, env } = process;
  return findProgram({ platform, setting, home: homedir, extension: extension.fsPath, path: env.PATH }, isProgram);
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
