// Asks the user to click an element, in a notification with a Cancel button. An element of a page that nobody
// sees is clicked in the live view.
import type { Notice } from "../core/access/pick";
import { isUnseen } from "../core/liveview/unseen";
import { type Log, reason } from "../core/log";
import type { Store } from "../core/window/store";
import { notify } from "./notice";

/** Lets the user click in the live view; resolves when the user cancels there. */
export type PickInView = (text: string, page: string, signal: AbortSignal) => Promise<void>;

export function askToPick(store: Store, pickInView: PickInView, log: Log): Notice {
  return async (text, signal, page) => {
    const cancelled = notify(text, true, signal);
    if (page === undefined) return cancelled;
    const unseen = await isUnseen(store.state, page).catch((error: unknown) => {
      log.debug(`the page to pick in: ${reason(error)}`);
      return undefined;
    });
    if (unseen === undefined || signal.aborted) return cancelled;
    return Promise.race([cancelled, pickInView(text, unseen, signal)]);
  };
}
