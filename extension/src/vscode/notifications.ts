// Every notification that reports something. The editor makes links of [words](command:…) in notifications, also
// where they are the name of a file, a folder or a page. So each is plain text.
import * as vscode from "vscode";
import { plain } from "../core/plaintext";

const most = 1_000;

export function inform(message: string): void {
  void vscode.window.showInformationMessage(plain(message, most));
}

/** Resolves to the button that the user presses. */
export async function warn(message: string, ...buttons: string[]): Promise<string | undefined> {
  return vscode.window.showWarningMessage(plain(message, most), ...buttons);
}

/** Resolves to the button that the user presses. */
export async function reportError(message: string, ...buttons: string[]): Promise<string | undefined> {
  return vscode.window.showErrorMessage(plain(message, most), ...buttons);
}
