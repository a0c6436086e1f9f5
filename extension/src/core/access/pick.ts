// pick.start asks the user to click an element in the page. The client finds out which one it was;
// this only shows the request, and lets the user cancel it.

import { clientName, plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { PickStartResult } from "../protocol/protocol.generated";
import type { Command } from "../window/connection";

/** The longest time that a pick may wait for the user, in seconds. */
export const longest = 3_600;

/** Shows the request until the signal is aborted; resolves before that only when the user cancels. */
export type Notice = (text: string, signal: AbortSignal) => Promise<void>;

export function pickCommand(notice: Notice): Command {
  return {
    waitsForUser: true,
    async run(value, { signal }): Promise<PickStartResult> {
      const arg = Argument.of(value);
      const who = clientName(arg.client());
      const message = plain(arg.text("message", 0), 300);
      const seconds = Math.min(arg.positive("seconds"), longest);
      signal.throwIfAborted();
      const over = new AbortController();
      const gone = AbortSignal.any([signal, over.signal]);
      const text = `${who} asks you to click an element in the page${message === "" ? "." : `: ${message}`}`;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<PickStartResult>((resolve) => {
        timer = setTimeout(() => resolve({ outcome: "timeout" }), seconds * 1_000);
      });
      const cancelled = notice(text, gone).then((): PickStartResult => ({ outcome: "cancelled" }));
      const givenUp = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      try {
        return await Promise.race([late, cancelled, givenUp]);
      } finally {
        clearTimeout(timer);
        over.abort();
      }
    },
  };
}
