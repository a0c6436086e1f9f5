// pick.start asks the user to click an element in the page. The client finds out which one it was;
// this only shows the request, and lets the user cancel it.
import * as l10n from "@vscode/l10n";
import { clientName, plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { PickStartResult } from "../protocol/protocol.generated";
import type { Command } from "../window/connection";

/** The longest time that a pick may wait for the user, in seconds. */
export const longest = 3_600;

/**
 * Shows the request until the signal is aborted; resolves before that only when the user cancels. `page` is the
 * page's target, if it is in this window's browser.
 */
export type Notice = (text: string, signal: AbortSignal, page: string | undefined) => Promise<void>;

export function pickCommand(notice: Notice): Command {
  return {
    waitsForUser: true,
    async run(value, { signal }): Promise<PickStartResult> {
      const arg = Argument.of(value);
      const who = clientName(arg.client());
      const message = plain(arg.text("message", 0), 300);
      const seconds = Math.min(arg.positive("seconds"), longest);
      signal.throwIfAborted();
      const closing = new AbortController();
      const end = AbortSignal.any([signal, closing.signal]);
      const page = arg.has("page") ? arg.text("page") : undefined;
      const text =
        message === ""
          ? l10n.t("{0} asks you to click an element in the page.", who)
          : l10n.t("{0} asks you to click an element in the page: {1}", who, message);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<PickStartResult>((resolve) => {
        timer = setTimeout(() => resolve({ outcome: "timeout" }), seconds * 1_000);
      });
      const cancelled = notice(text, end, page).then((): PickStartResult => ({ outcome: "cancelled" }));
      const abort = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      try {
        return await Promise.race([timeout, cancelled, abort]);
      } finally {
        clearTimeout(timer);
        closing.abort();
      }
    },
  };
}
