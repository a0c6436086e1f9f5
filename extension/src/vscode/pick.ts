// Asks the user to click an element, in a notification with a Cancel button. An element of a page that nobody
// sees is clicked in the live view.
import * as vscode from "vscode";
import type { Notice } from "../core/access/pick";
import { isUnseen } from "../core/liveview/unseen";
import { type Log, reason } from "../core/log";
import type { Store } from "../core/window/store";

/** Lets the user click in the live view; resolves when the user cancels there. */
export type PickInView = (text: string, page: string, signal: AbortSignal) => Promise<void>;

export function askToPick(store: Store, pickInView: PickInView, log: Log): Notice {
  return async (text, signal, page) => {
    const cancelled = notify(text, signal);
    if (page === undefined) return cancelled;
    const shown = await isUnseen(store.state, page).catch((error: unknown) => {
      log.debug(`the page to pick in: ${reason(error)}`);
      return undefined;
    });
    if (shown === undefined || signal.aborted) return cancelled;
    return Promise.race([cancelled, pickInView(text, shown, signal)]);
  };
}

function notify(title: string, signal: AbortSignal): Promise<void> {
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
}
