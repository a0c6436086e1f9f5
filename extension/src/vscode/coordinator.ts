// Where the coordinator's program is, for those who start it from here.
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import * as vscode from "vscode";

export const workspaceVariable = "BROWSER_COORDINATOR_WORKSPACE";

/** The coordinator's program: the setting's, else the bundled one, else PATH's. */
export async function findCoordinator(extension: vscode.Uri): Promise<string | undefined> {
  const set = vscode.workspace.getConfiguration("browserCoordinator").get("coordinatorPath", "").trim();
  if (set !== "") {
    const path = set.replace(/^~(?=[\\/])/, homedir());
    return (await isProgram(path)) ? path : undefined; // a wrong setting is told, not worked around
  }
  const name = process.platform === "win32" ? "coordinator.exe" : "coordinator";
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  for (const path of [join(extension.fsPath, "bin", name), ...folders.map((folder) => join(folder, name))]) {
    if (await isProgram(path)) return path;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
