// pick.start asks the user to click an element in the page. The client finds out which one it was;
// this only shows the request, and lets the user cancel it.
import * as l10n from "@vscode/l10n";
import { clientName, plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { PickStartResult } from "../protocol/protocol.generated";
import type { Command } from "../window/connection";
import { untilSettled } from "./notice";

/**
 * Shows the request until the signal is aborted; resolves before that only when the user cancels. `page` is the
 * page's target, if it is in this window's browser.
 */
export type Notice = (text: string, signal: AbortSignal, page: string | undefined) => Promise<void>;

export function pickCommand(notice: Notice): Command {
  return {
    waitsForUser: true,
    async run(value, { signal }): Promise<PickStartResult> {
      const arg = Argument.parse(value);
      const client = clientName(arg.client());
      const message = plain(arg.text("message", 0), 300);
      const seconds = arg.positive("seconds");
      const page = arg.has("page") ? arg.text("page") : undefined;
      const text =
        message === ""
          ? l10n.t("{0} asks you to click an element in the page.", client)
          : l10n.t("{0} asks you to click an element in the page: {1}", client, message);
      const outcome = await untilSettled(seconds, signal, (end) => notice(text, end, page));
      return { outcome: outcome === "settled" ? "cancelled" : outcome };
    },
  };
}
