// review.present shows a client's Markdown to the user, and review.wait gives the client the user's answer. This
// keeps the text of reviews and their answers; the panel itself is the editor's.
import { randomUUID } from "node:crypto";
import * as l10n from "@vscode/l10n";
import { clientName, plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { Client, ReviewPresentResult, ReviewWaitResult } from "../protocol/protocol.generated";
import { Refusal } from "../protocol/request";
import type { Command } from "../window/connection";
import { withTimeout } from "../within";
import {
  type AnswerStatus,
  diffs,
  type PanelAnswer,
  type ReadFile,
  type Review,
  readAnswer,
  statusOf,
  Waiting,
} from "./answer";

/** The longest review, in bytes of UTF-8. */
export const reviewLimit = 1024 * 1024;

/** How long a panel may take to load, in ms. The first one of a window may take some seconds. */
const showLimit = 30_000;

/** How long a client may wait for the user's answer, in seconds. */
const longestWait = 3_600;

/** A window remembers so many over a reload, the newest. */
export const storedReviews = 20;

/** A panel of the editor. There is one for each client and title. */
export interface ReviewPanel {
  /** Resolves when the user can see it; rejects when the panel is closed before. */
  show(review: Review, status: AnswerStatus): Promise<void>;
  /** Changes only what the user sees of the answer. */
  status(status: AnswerStatus): void;
  /** Brings it to the front of its group. */
  reveal(): void;
  close(): void;
  readonly onClosed: (listener: () => void) => void;
  /** The user answers the review as it is shown. */
  readonly onAnswer: (listener: (given: PanelAnswer, shown: Review) => void) => void;
}

/** The window's editors, and what is kept for them while the window is reloaded. */
export interface ReviewPlace {
  /** Opens a panel, in the place of the tab that has this label where there is one. */
  open(label: string): ReviewPanel;
  /**
   * Whether a review's tab has this label. One that was behind another when the window was reloaded is nothing
   * but a tab until the user looks at it.
   */
  has(label: string): boolean;
  /** What was kept, of this window and maybe of others. */
  stored(): Promise<Review[]>;
  keep(review: Review): Promise<void>;
  forget(review: Review): Promise<void>;
  /** The text of a file of the window's folders as it is now, once the user's changes by a review are made. */
  readFile: ReadFile;
  /** Notifies the user, wherever they are, that a client waits for them. */
  waits(text: string, until: Promise<unknown>): void;
}

const modes = ["replace", "append", "update-section"] as const;
type Mode = (typeof modes)[number];

export class Reviews {
  /** By the panel's id. */
  readonly #open = new Map<string, { review: Review; panel: ReviewPanel }>();
  /** What was kept and is in no panel yet, by the panel's id. */
  #files: Promise<Map<string, Review>> | undefined;
  /** One change at a time: each begins with what the one before it has left. */
  #changes: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Waiting();

  /** isHere reports whether a client of this id is connected. */
  constructor(
    private readonly place: ReviewPlace,
    private readonly isHere: (client: string) => boolean,
  ) {}

  /** A panel that was there before the window was reloaded. It may have gone on in another one since. */
  adopt(review: Review, panel: ReviewPanel): Promise<void> {
    return this.#change(async () => {
      const stored = (await this.#stored()).get(review.id) ?? review;
      if (this.#open.has(review.id)) panel.close();
      else void (await this.#put(stored, panel)).shown.catch(() => {}); // no caller waits for it
    });
  }

  get commands(): [string, Command][] {
    return [
      ["review.present", { waitsForUser: true, run: async (arg) => this.#present(Argument.parse(arg)) }],
      ["review.wait", { waitsForUser: true, run: async (arg, { signal }) => this.#wait(Argument.parse(arg), signal) }],
    ];
  }

  async #present(arg: Argument): Promise<ReviewPresentResult> {
    const client = arg.client();
    const title = titleOf(arg);
    const added = arg.text("markdown", 0);
    const mode = arg.choice("mode", modes);
    const section = arg.optional("section", () => arg.text("section"));
    if (mode === "update-section" && section === undefined) throw arg.bad("section", "must name the section");
    refuseLong(added);
    const { shown, answer } = await this.#change(async () => {
      const before = await this.#find(client, title);
      const markdown = await compose(before?.markdown ?? "", added, mode, section);
      refuseLong(markdown);
      const { id, label } = before ?? { id: randomUUID(), label: this.#label(title, clientName(client)) };
      const panel = this.#open.get(id)?.panel ?? this.place.open(label);
      const review = { id, label, title, markdown, client };
      const put = await this.#put(review, panel);
      await this.place.keep(review);
      const answer = before?.answer &&
        !before.delivered && { ...before.answer, ...(await diffs(before, this.place.readFile)) };
      return { ...put, answer };
    });
    const timeout = () => new Refusal("deadline", `the review's panel did not load within ${showLimit} ms: try again`);
    await withTimeout(shown, showLimit, timeout);
    return { shown: true, ...(answer && { answer }) };
  }

  async #wait(arg: Argument, signal: AbortSignal): Promise<ReviewWaitResult> {
    const client = arg.client();
    const title = titleOf(arg);
    const limit = Math.min(arg.positive("seconds"), longestWait) * 1_000;
    const { review, result } = await this.#change(async () => {
      const found = await this.#find(client, title);
      if (!found) throw arg.bad("title", "must be that of a review that is open: present it first");
      const review = { ...found, client };
      const open = this.#open.get(review.id);
      if (open && found.client.id === client.id) open.panel.reveal();
      else await this.#put(review, open?.panel ?? this.place.open(review.label));
      const result = review.answer ? Promise.resolve(review.answer) : this.#waiting.wait(review.id, limit, signal);
      result.catch(() => {}); // it is awaited below
      if (review.answer) await this.#update({ ...review, delivered: true });
      else this.place.waits(l10n.t("{0} waits for your answer to “{1}”", clientName(client), title), result);
      this.#showStatus(review.id);
      return { review, result };
    });
    try {
      const answer = await result;
      return { ...answer, ...(await diffs(this.#open.get(review.id)?.review ?? review, this.place.readFile)) };
    } finally {
      this.#showStatus(review.id);
    }
  }

  /** The text may have changed since the user saw it: then this is no answer to it. */
  #answered(panelAnswer: PanelAnswer, { id, markdown }: Review): Promise<void> {
    return this.#change(async () => {
      const review = this.#open.get(id)?.review;
      if (review?.markdown !== markdown) return;
      const answer = await readAnswer(panelAnswer, markdown);
      await this.#update({ ...review, answer, delivered: this.#waiting.settle(id, answer) });
      this.#showStatus(id);
    });
  }

  /** Keeps what has changed of a review in a panel; not its text. */
  async #update(review: Review): Promise<void> {
    const open = this.#open.get(review.id);
    if (open) open.review = review;
    await this.place.keep(review);
  }

  #showStatus(id: string): void {
    const open = this.#open.get(id);
    open?.panel.status(statusOf(open.review, this.#waiting.has(id)));
  }

  /** Resolves when it is under way; `shown` settles when the user can see it. */
  async #put(review: Review, panel: ReviewPanel): Promise<{ shown: Promise<void> }> {
    const { id } = review;
    (await this.#stored()).delete(id);
    const isOpen = this.#open.has(id);
    this.#open.set(id, { review, panel });
    if (!isOpen) {
      panel.onAnswer((given, shown) => void this.#answered(given, shown));
      panel.onClosed(() => {
        this.#open.delete(id);
        void this.place.forget(review);
        this.#waiting.settle(id, { outcome: "closed" });
      });
    }
    const display = panel.show(review, statusOf(review, this.#waiting.has(id)));
    display.catch(() => {}); // its caller waits for it later
    return { shown: display };
  }

  /** The client's own review of this title, else that of one of its name that has left: the same agent, restarted. */
  async #find(client: Client, title: string): Promise<Review | undefined> {
    const stored = [...(await this.#stored()).values()].filter(
      ({ label }) => !this.#inPanel(label) && this.place.has(label),
    );
    const all = [...[...this.#open.values()].map(({ review }) => review), ...stored];
    const titled = all.filter((review) => review.title === title);
    return (
      titled.find((review) => review.client.id === client.id) ??
      titled.find((review) => review.client.name === client.name && !this.isHere(review.client.id))
    );
  }

  #stored(): Promise<Map<string, Review>> {
    this.#files ??= this.place.stored().then((all) => new Map(all.map((review) => [review.id, review])));
    return this.#files;
  }

  #inPanel(label: string): boolean {
    return [...this.#open.values()].some(({ review }) => review.label === label);
  }

  /** Of two reviews with one title, the later one's tab names its client. */
  #label(title: string, author: string): string {
    let label = title;
    for (let count = 1; this.#inPanel(label) || this.place.has(label); count += 1)
      label = `${title} (${author}${count > 1 ? `, ${count}` : ""})`;
    return label;
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(work);
    this.#changes = done.catch(() => {}); // the caller gets the error
    return done;
  }
}

function titleOf(arg: Argument): string {
  return plain(arg.text("title", 0), 100) || l10n.t("Review");
}

/** The review's text after the change. */
async function compose(before: string, added: string, mode: Mode, section: string | undefined): Promise<string> {
  if (mode === "replace" || section === undefined) {
    return mode === "append" && before !== "" ? `${before.trimEnd()}\n\n${added}` : added;
  }
  const { sections } = await import("./markdown");
  const all = sections(before);
  const heading = section.replace(/^#+\s+/, "").trim();
  const found = all.find(({ title }) => title === heading);
  if (!found) {
    const titles = all.map(({ title }) => title);
    const there =
      titles.length > 0 ? `there are ${titles.map((each) => JSON.stringify(each)).join(", ")}` : "it has none";
    const message = `the review has no section ${JSON.stringify(heading)}: ${there}`;
    throw new Refusal("bad_payload", message, { path: "/payload/arg/section", sections: titles });
  }
  // A text that begins with the heading replaces that too.
  const [first] = sections(added);
  const repeated = first?.heading === 0 && first.title === heading;
  const lines = before.split("\n");
  const upTo = lines.slice(0, repeated ? found.heading : found.body).join("\n");
  const rest = lines.slice(found.end).join("\n");
  return `${[upTo.trimEnd(), added.trim(), rest.trim()].filter((part) => part !== "").join("\n\n")}\n`;
}

function refuseLong(markdown: string): void {
  const length = Buffer.byteLength(markdown);
  if (length <= reviewLimit) return;
  const message = `the review would have ${length} bytes; the limit is ${reviewLimit} (1 MiB)`;
  throw new Refusal("bad_payload", message, { path: "/payload/arg/markdown", limit: reviewLimit });
}
