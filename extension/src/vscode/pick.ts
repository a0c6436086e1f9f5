// Asks the user to click an element, in a notification with a Cancel button.
import * as vscode from "vscode";
import type { Notice } from "../core/access/pick";

export const askToPick: Notice = (title, signal) => {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return new Promise((resolve) => {
    void vscode.window.withProgress(options, (_, token) => {
      // The notification goes when this is settled.
      return new Promise<void>((settle) => {
        token.onCancellationRequested(() => {
          settle();
          resolve();
        });
        signal.addEventListener("abort", () => settle(), { once: true });
      });
    });
  });
};
