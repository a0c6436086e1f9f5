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

/** Shows work that waits for another program, with what that reports, and lets the user cancel it. */
export function whileConnecting<T>(
  title: string,
  work: (report: (text: string) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return Promise.resolve(
    vscode.window.withProgress(options, (progress, token) => {
      const cancelled = new AbortController();
      token.onCancellationRequested(() => cancelled.abort());
      return work((text) => progress.report({ message: plain(text, most) }), cancelled.signal);
    }),
  );
}
