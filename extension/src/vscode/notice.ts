// A notification that stays until it is settled: by its one button, or by the one who shows it.
import * as vscode from "vscode";
import { whenAborted } from "../core/abort";

/** The editor takes a label in place of true. If it did not, the button would read "Cancel", and do the same. */
export function labelled(label: string): boolean {
  return label as unknown as boolean;
}

/** Resolves when the user presses the button: Cancel, or one with a label. */
export function notify(title: string, button: true | string, signal: AbortSignal): Promise<void> {
  const cancellable = button === true || labelled(button);
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
