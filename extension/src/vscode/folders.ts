import * as vscode from "vscode";

/** The paths of the window's folders, as the editor has them. */
export function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}
