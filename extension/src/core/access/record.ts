// record.show shows that a client records what the user does in a page, and lets the user end that. The client
// records; the user has agreed to it before (permission.ask).
import { randomUUID } from "node:crypto";
import { clientName } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { Client, PendingQuestion, RecordShowResult } from "../protocol/protocol.generated";
import type { Command } from "../window/connection";
import type { Store } from "../window/store";
import { isStopped } from "./access";
import { recordingText, showingRecording } from "./actions";
import { untilSettled } from "./notice";

/** Shows the text until the signal is aborted; resolves before that only when the user ends the recording. */
export type RecordingNotice = (text: string, signal: AbortSignal) => Promise<void>;

/** The recordings under way. */
export class Recordings {
  readonly #underWay = new Map<string, { client: Client; message: string; end: () => void }>();
  readonly #store: Store;
  readonly #notice: RecordingNotice;

  constructor(store: Store, notice: RecordingNotice) {
    this.#store = store;
    this.#notice = notice;
  }

  /** As permission.list has them: the user can only end them. */
  get listed(): PendingQuestion[] {
    return [...this.#underWay].map(([id, { client, message }]) => ({
      id,
      client,
      actions: [{ number: 1, action: { client, act: showingRecording, detail: message } }],
      choices: ["refuse"],
    }));
  }

  /** Ends a recording as the user; returns whether there is one of this id. */
  end(id: string): boolean {
    const recording = this.#underWay.get(id);
    recording?.end();
    return recording !== undefined;
  }

  get command(): Command {
    return {
      waitsForUser: true,
      run: async (value, { signal }): Promise<RecordShowResult> => {
        const arg = Argument.parse(value);
        const client = arg.client();
        const message = arg.text("message", 0);
        const seconds = arg.positive("seconds");
        const id = randomUUID();
        const ended = new Promise<void>((end) => this.#underWay.set(id, { client, message, end }));
        const endIfStopped = () => isStopped(this.#store, client) && this.end(id);
        const unsubscribe = this.#store.subscribe(endIfStopped);
        endIfStopped();
        const show = (closing: AbortSignal) =>
          Promise.race([ended, this.#notice(recordingText(clientName(client), message), closing)]);
        try {
          const outcome = await untilSettled(seconds, signal, show);
          return { outcome: outcome === "settled" ? "ended" : outcome };
        } finally {
          unsubscribe();
          this.#underWay.delete(id);
        }
      },
    };
  }
}
