// A notification that stays until it is settled: by its one button, or by the one who shows it.
import * as vscode from "vscode";
import { whenAborted } from "../core/abort";

/** Resolves when the user presses the button: Cancel, or one with a label. */
export function notify(title: string, button: true | string, signal: AbortSignal): Promise<void> {
  // The editor takes a label for it; if it did not, the button would read "Cancel".
  const cancellable = button as boolean;
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable };
  return new Promise((resolve) => {
    void vscode.window.withProgress(options, (_, token) => {
      // The notification goes when this is settled.
      return new Promise<void>((settle) => {
        token.onCancellationRequested(() => {
          settle();
          resolve();
        });
        whenAborted(signal, settle); // the editor calls back later
      });
    });
  });
}
