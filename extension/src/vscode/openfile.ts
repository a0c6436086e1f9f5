import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { relativePath, toEditor } from "../core/files/paths";
import { reason } from "../core/log";
import { folders } from "./folders";
import { warn } from "./notifications";

/** Opens what the user clicked. A client chose where it leads, so it leads nowhere but into the folders. */
export async function openFile({ file, line, column }: { file: string; line: number; column: number }): Promise<void> {
  try {
    const path = await toEditor(file, folders());
    if (!(await stat(path)).isFile()) throw new Error(l10n.t("it is no file"));
    if (!inFolders(path)) throw new Error(l10n.t("it is in no folder of this window"));
    const position = new vscode.Position(Math.max(line, 1) - 1, Math.max(column, 1) - 1);
    const selection = line > 0 ? { selection: new vscode.Range(position, position) } : {};
    const options = { viewColumn: vscode.ViewColumn.One, ...selection };
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path), options);
  } catch (error) {
    void warn(l10n.t("{0} cannot be opened: {1}", file, reason(error)));
  }
}

/** Whether a file is in a folder of the window. A link that leads out of the folders is not; nor is what is missing. */
export function inFolders(path: string): boolean {
  try {
    const real = realpathSync.native(path);
    return folders().some((folder) => relativePath(realpathSync.native(folder), real) !== undefined);
  } catch {
    return false;
  }
}
