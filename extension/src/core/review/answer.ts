// The user's answer to a review, and the calls that wait for it.
import * as l10n from "@vscode/l10n";
import { clientName } from "../plaintext";
import type { Client, ReviewComment, ReviewDiff, ReviewWaitResult } from "../protocol/protocol.generated";
import { indexOfLines } from "./code";
import type { Change } from "./markdown";

export interface Answer {
  outcome: "approved" | "changes";
  text?: string;
  comments?: ReviewComment[];
}

/** A text that a client shows to the user. */
export interface Review {
  /** The panel's, over reloads too. */
  id: string;
  /** The label of the panel's tab: unique. */
  label: string;
  title: string;
  markdown: string;
  /** Its owner. When that client has left, the next client of its name takes over. */
  client: Client;
  /** The user's, to this text. */
  answer?: Answer;
  /** A client has got the answer. */
  delivered?: boolean;
}

/** What the user is shown of an answer. */
export interface AnswerStatus {
  text: string;
  /** The window has the user's answer to this text. */
  answered: boolean;
}

/** An answer as the panel's page gives it. A comment whose place has gone has line 0, and the quote alone. */
export interface PanelAnswer {
  outcome: Answer["outcome"];
  text: string;
  comments: { line: number; quote: string; text: string }[];
}

/** The answer as its client gets it: what is quoted is read from the review, not from its page. */
export async function readAnswer({ outcome, text, comments }: PanelAnswer, markdown: string): Promise<Answer> {
  const { places } = await import("./markdown");
  const all = places(markdown);
  const read = comments.map(({ line, quote, text }): ReviewComment => {
    const place = all.get(line);
    return place ? { text, ...place, line } : { text, quote };
  });
  return { outcome, ...(text !== "" && { text }), ...(read.length > 0 && { comments: read }) };
}

/** The text of a file of the window's folders as it is now; undefined where there is none. */
export type ReadFile = (file: string) => Promise<string | undefined>;

/** Which of the review's diffs are in the files now, for its client: the user may have undone what they applied. */
export async function diffs({ markdown }: Review, readFile: ReadFile): Promise<Pick<ReviewWaitResult, "diffs">> {
  const { changes } = await import("./markdown");
  const all = await Promise.all(changes(markdown).map(async (change) => diff(change, await readFile(change.file))));
  return all.length > 0 ? { diffs: all } : {};
}

function diff({ file, from, to, removal, hunk }: Change, text: string | undefined): ReviewDiff {
  if (text === undefined) return { file, from, to, applied: false };
  const lines = text.split(/\r?\n/);
  const expected = hunk.start - 1;
  const isBlank = (side: string[]) => side.every((line) => line.trim() === "");
  const find = (side: string[]) => (isBlank(side) ? undefined : indexOfLines(lines, side, expected));
  const [before, after] = [find(hunk.before), find(hunk.after)];
  const applied = before === undefined ? after !== undefined || isBlank(hunk.after) : after === expected;
  // Other changes above may have moved its lines.
  const shift = applied && !removal ? (after ?? expected) - expected : 0;
  return { file, from: from + shift, to: to + shift, applied };
}

export function statusOf({ client, answer, delivered }: Review, waited: boolean): AnswerStatus {
  const name = clientName(client);
  if (!answer) {
    const text = waited
      ? l10n.t("{0} waits for your answer.", name)
      : l10n.t("{0} gets your answer when it asks.", name);
    return { text, answered: false };
  }
  const approved = answer.outcome === "approved";
  const yours = approved ? l10n.t("You approved this.") : l10n.t("You requested changes.");
  const its = delivered ? l10n.t("{0} has your answer.", name) : l10n.t("{0} gets your answer when it asks.", name);
  return { text: `${yours} ${its}`, answered: true };
}

/** The calls that wait for an answer, by the review's id. */
export class Waiting {
  readonly #all = new Map<string, Set<(result: ReviewWaitResult) => void>>();

  has(id: string): boolean {
    return this.#all.has(id);
  }

  /** Resolves with what settles the review, or after limit ms; rejects when the signal is aborted. */
  async wait(id: string, limit: number, signal: AbortSignal): Promise<ReviewWaitResult> {
    signal.throwIfAborted();
    const all = this.#all.get(id) ?? new Set();
    this.#all.set(id, all);
    const end = new AbortController();
    try {
      return await new Promise((resolve, reject) => {
        all.add(resolve);
        const timer = setTimeout(() => resolve({ outcome: "timeout" }), limit);
        end.signal.addEventListener("abort", () => {
          clearTimeout(timer);
          all.delete(resolve);
        });
        signal.addEventListener("abort", () => reject(signal.reason), { signal: end.signal });
      });
    } finally {
      end.abort();
      if (all.size === 0) this.#all.delete(id);
    }
  }

  /** Returns whether a call got it. */
  settle(id: string, result: ReviewWaitResult): boolean {
    const all = this.#all.get(id);
    for (const resolve of all ?? []) resolve(result);
    return all !== undefined;
  }
}
