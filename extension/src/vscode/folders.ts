import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";

/** The paths of the window's folders, as the editor has them. */
export function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

/** What the user must do before agents can join a browser that is debugged here. */
export function missing(): string | undefined {
  if (!vscode.workspace.isTrusted) return l10n.t("Trust this workspace so that agents can join its browser.");
  if (vscode.workspace.workspaceFolders?.length) return undefined;
  return l10n.t("Open a folder so that agents can find this window.");
}
