// review.present: Markdown that a client shows to the user. This keeps the text of reviews and answers a client
// when its review is shown; the panel itself is the editor's.
import { randomUUID } from "node:crypto";
import { clientName, plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { Client, ReviewPresentResult } from "../protocol/protocol.generated";
import { Refusal } from "../protocol/request";
import type { Command } from "../window/connection";
import { within } from "../within";

/** The longest review, in bytes of UTF-8. */
export const reviewLimit = 1024 * 1024;

/** How long a panel may take to load, in ms. The first one of a window may take some seconds. */
const showLimit = 30_000;

/** A window remembers so many over a reload, the newest. */
export const keptReviews = 20;

export interface Review {
  /** The panel's, over reloads too. */
  id: string;
  /** The label of the panel's tab: unique. */
  label: string;
  title: string;
  markdown: string;
  /** Its owner. When that client has left, the next client of its name takes over. */
  client: Client;
}

/** A panel of the editor. There is one for each client and title. */
export interface ReviewPanel {
  /** Resolves when the user can see it; rejects when the panel is closed before. */
  show(review: Review): Promise<void>;
  close(): void;
  readonly onClosed: (listener: () => void) => void;
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
  kept(): Promise<Review[]>;
  keep(review: Review): Promise<void>;
  forget(review: Review): Promise<void>;
}

const modes = ["replace", "append", "update-section"] as const;
type Mode = (typeof modes)[number];

export class Reviews {
  /** By the panel's id. */
  readonly #open = new Map<string, { review: Review; panel: ReviewPanel }>();
  /** What was kept and is in no panel yet, by the panel's id. */
  #kept: Promise<Map<string, Review>> | undefined;
  /** One change at a time: each begins with what the one before it has left. */
  #changes: Promise<unknown> = Promise.resolve();

  /** isHere reports whether a client of this id is connected. */
  constructor(
    private readonly place: ReviewPlace,
    private readonly isHere: (client: string) => boolean,
  ) {}

  /** A panel that was there before the window was reloaded. It may have gone on in another one since. */
  adopt(review: Review, panel: ReviewPanel): Promise<void> {
    return this.#change(async () => {
      const kept = (await this.#left()).get(review.id) ?? review;
      if (this.#open.has(review.id)) panel.close();
      else void (await this.#put(kept, panel)).shown.catch(() => {}); // no caller waits for it
    });
  }

  get command(): Command {
    return { waitsForUser: true, run: async (arg) => this.#present(Argument.of(arg)) };
  }

  async #present(arg: Argument): Promise<ReviewPresentResult> {
    const client = arg.client();
    const title = plain(arg.text("title", 0), 100) || "Review";
    const added = arg.text("markdown", 0);
    const mode = arg.choice("mode", modes);
    const section = arg.optional("section", () => arg.text("section"));
    if (mode === "update-section" && section === undefined) throw arg.bad("section", "must name the section");
    refuseLong(added);
    const { shown } = await this.#change(async () => {
      const before = await this.#find(client, title);
      const markdown = await compose(before?.markdown ?? "", added, mode, section);
      refuseLong(markdown);
      const { id, label } = before ?? { id: randomUUID(), label: this.#label(title, clientName(client)) };
      const panel = this.#open.get(id)?.panel ?? this.place.open(label);
      const review = { id, label, title, markdown, client };
      const put = await this.#put(review, panel);
      await this.place.keep(review);
      return put;
    });
    const late = () => new Refusal("deadline", `the review's panel did not load within ${showLimit} ms: try again`);
    await within(shown, showLimit, late);
    return { shown: true };
  }

  /** Resolves when it is under way; `shown` settles when the user can see it. */
  async #put(review: Review, panel: ReviewPanel): Promise<{ shown: Promise<void> }> {
    const { id } = review;
    (await this.#left()).delete(id);
    const known = this.#open.has(id);
    this.#open.set(id, { review, panel });
    if (!known) {
      panel.onClosed(() => {
        this.#open.delete(id);
        void this.place.forget(review);
      });
    }
    const shown = panel.show(review);
    shown.catch(() => {}); // its caller waits for it later
    return { shown };
  }

  /** The client's own review of this title, else that of one of its name that has left: the same agent, restarted. */
  async #find(client: Client, title: string): Promise<Review | undefined> {
    const left = [...(await this.#left()).values()].filter(
      ({ label }) => !this.#inPanel(label) && this.place.has(label),
    );
    const all = [...[...this.#open.values()].map(({ review }) => review), ...left];
    const titled = all.filter((review) => review.title === title);
    return (
      titled.find((review) => review.client.id === client.id) ??
      titled.find((review) => review.client.name === client.name && !this.isHere(review.client.id))
    );
  }

  #left(): Promise<Map<string, Review>> {
    this.#kept ??= this.place.kept().then((all) => new Map(all.map((review) => [review.id, review])));
    return this.#kept;
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

/** The review's text after the change. */
async function compose(before: string, added: string, mode: Mode, section: string | undefined): Promise<string> {
  if (mode === "replace" || section === undefined) {
    return mode === "append" && before !== "" ? `${before.trimEnd()}\n\n${added}` : added;
  }
  const { sections } = await import("./markdown");
  const all = sections(before);
  const wanted = section.replace(/^#+\s+/, "").trim();
  const found = all.find(({ title }) => title === wanted);
  if (!found) {
    const titles = all.map(({ title }) => title);
    const there =
      titles.length > 0 ? `there are ${titles.map((each) => JSON.stringify(each)).join(", ")}` : "it has none";
    const message = `the review has no section ${JSON.stringify(wanted)}: ${there}`;
    throw new Refusal("bad_payload", message, { path: "/payload/arg/section", sections: titles });
  }
  // A text that begins with the heading replaces that too.
  const [first] = sections(added);
  const repeated = first?.heading === 0 && first.title === wanted;
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
