// review.present: what a client wants the human to read. Here is what a review says, and when a client is
// told that it is shown; the panel itself is the editor's.
import { Argument } from "./argument";
import type { Command } from "./connection";
import type { ReviewPresentResult } from "./protocol.generated";
import { Refusal } from "./request";
import { clientName, plain } from "./words";

/** The longest review, in bytes of UTF-8. */
export const reviewLimit = 1024 * 1024;

/** How long a panel may take to load, in ms. The first one of a window may take some seconds. */
const showLimit = 30_000;

export interface Review {
  title: string;
  markdown: string;
  /** Who wrote it last, in words. */
  author: string;
}

/** A panel of the editor. There is one for each title. */
export interface ReviewPanel {
  /** Resolves when the human can see it; rejects when the panel is closed before. */
  show(review: Review): Promise<void>;
  readonly onClosed: (listener: () => void) => void;
}

const modes = ["replace", "append", "update-section"] as const;
type Mode = (typeof modes)[number];

export class Reviews {
  readonly #open = new Map<string, { review: Review; panel: ReviewPanel }>();

  constructor(private readonly newPanel: (title: string) => ReviewPanel) {}

  /** A panel that was there before the window was reloaded. */
  adopt(review: Review, panel: ReviewPanel): void {
    this.#keep(review, panel);
    void panel.show(review).catch(() => {}); // nobody waits for it
  }

  get command(): Command {
    return { waitsForHuman: true, run: async (arg) => this.#present(Argument.of(arg)) };
  }

  async #present(arg: Argument): Promise<ReviewPresentResult> {
    const author = clientName(arg.client());
    const title = plain(arg.text("title", 0), 100) || "Review";
    const added = arg.text("markdown", 0);
    const mode = arg.choice("mode", modes);
    const section = arg.optional("section", () => arg.text("section"));
    if (mode === "update-section" && section === undefined) throw arg.bad("section", "must say which section is meant");
    refuseLong(added);
    const before = this.#open.get(title);
    const markdown = await compose(before?.review.markdown ?? "", added, mode, section);
    refuseLong(markdown);
    const review = { title, markdown, author };
    // Another call may have opened the panel meanwhile.
    const panel = this.#open.get(title)?.panel ?? this.newPanel(title);
    this.#keep(review, panel);
    await withinLimit(panel.show(review));
    return { shown: true };
  }

  #keep(review: Review, panel: ReviewPanel): void {
    const known = this.#open.get(review.title)?.panel === panel;
    this.#open.set(review.title, { review, panel });
    if (known) return;
    panel.onClosed(() => {
      if (this.#open.get(review.title)?.panel === panel) this.#open.delete(review.title);
    });
  }
}

async function withinLimit(shown: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refusal = new Refusal("deadline", `the review's panel did not load within ${showLimit} ms: try again`);
    timer = setTimeout(() => reject(refusal), showLimit);
  });
  try {
    await Promise.race([shown, late]);
  } finally {
    clearTimeout(timer);
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
  // Who gives the heading too means the same section.
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
