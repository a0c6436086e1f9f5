// The user's answer while they write it: a text, and comments on lines and blocks. The editor keeps it with the
// panel, so that it survives a reload. A change of the review's text moves the comments to where their lines are now.
import { editor } from "./editor";
import { highlight } from "./highlight";
import { part } from "./part";

interface Comment {
  /** 0 where the line has gone. */
  line: number;
  quote: string;
  text: string;
}

interface Kept {
  draft?: { text: string; comments: Comment[]; sent: boolean };
}

export class Draft {
  #keep: object = {};
  /** The window has it as an answer: the next text begins without it. */
  #sent = false;
  #comments: Comment[] = [];
  readonly #fields = new Map<Comment, HTMLTextAreaElement>();
  readonly #text = part<HTMLTextAreaElement>("text");
  readonly #template = part<HTMLTemplateElement>("note");

  constructor(private readonly content: HTMLElement) {
    const { draft } = (editor.getState() ?? {}) as Kept;
    this.#text.value = draft?.text ?? "";
    this.#comments = draft?.comments ?? [];
    this.#sent = draft?.sent ?? false;
    this.#text.addEventListener("input", () => this.#save());
    content.addEventListener("keydown", (event) => this.#move(event));
    content.addEventListener("focusin", ({ target }) => this.#reachable(target as HTMLElement));
  }

  /** Puts the review's text into the page, and the comments to its lines. */
  show(html: string, keep: object, answered: boolean): void {
    const [typing] = [...this.#fields].find(([, field]) => field === document.activeElement) ?? [];
    this.#keep = keep;
    if (this.#sent && !answered) {
      this.#text.value = "";
      this.#comments = [];
    }
    this.#fields.clear();
    this.content.innerHTML = html; // made by core/review/markdown.ts; the page's policy runs no script of it
    for (const block of this.content.querySelectorAll<HTMLElement>(".code")) highlight(block);
    part("lost").replaceChildren();
    for (const comment of this.#comments) {
      comment.line = this.#placed(comment);
      this.#note(comment);
    }
    if (typing) this.#fields.get(typing)?.focus();
    this.#reachable(this.#buttons()[0]);
    this.status(answered);
  }

  /** Whether the window has the answer to this text. */
  status(answered: boolean): void {
    this.#sent = answered;
    this.#save();
  }

  /** Begins a comment on what the button is before, or goes on with it. */
  comment(button: HTMLElement): void {
    const line = Number(button.dataset.line);
    let comment = this.#comments.find((each) => each.line === line);
    if (!comment) {
      comment = { line, quote: quoteOf(button), text: "" };
      this.#comments.push(comment);
      this.#note(comment);
    }
    this.#fields.get(comment)?.focus();
  }

  answer(): { text: string; comments: Comment[] } {
    const comments = this.#comments
      .filter(({ text }) => text.trim() !== "")
      .sort((one, other) => one.line - other.line);
    return { text: this.#text.value.trim(), comments };
  }

  /** The line of a comment in the present text: the nearest one that reads the same. */
  #placed({ line, quote }: Comment): number {
    const same = this.#buttons().filter((button) => quoteOf(button) === quote);
    const lines = same.map((button) => Number(button.dataset.line));
    return lines.sort((one, other) => Math.abs(one - line) - Math.abs(other - line))[0] ?? 0;
  }

  #note(comment: Comment): void {
    const note = (this.#template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
    const text = note.querySelector("textarea") as HTMLTextAreaElement;
    const button = this.#buttons().find((each) => Number(each.dataset.line) === comment.line);
    this.#fields.set(comment, text);
    text.value = comment.text;
    text.setAttribute("aria-label", button?.getAttribute("aria-label") ?? comment.quote);
    const remove = () => {
      this.#comments = this.#comments.filter((each) => each !== comment);
      this.#fields.delete(comment);
      note.remove();
      this.#save();
      (button ?? this.#text).focus();
    };
    text.addEventListener("input", () => {
      comment.text = text.value;
      this.#save();
    });
    text.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape") return;
      if (text.value.trim() === "") remove();
      else (button ?? this.#text).focus();
    });
    note.querySelector("button")?.addEventListener("click", remove);
    if (button) subjectOf(button).after(note);
    else {
      note.prepend(Object.assign(document.createElement("q"), { textContent: comment.quote }));
      part("lost").append(note);
    }
  }

  #save(): void {
    const { text, comments } = this.answer();
    editor.setState({ ...this.#keep, draft: { text: this.#text.value, comments, sent: this.#sent } });
    const count = part("count");
    count.textContent = comments.length > 0 ? (count.dataset.text ?? "").replace("#", `${comments.length}`) : "";
    if (text !== "" || comments.length > 0) part("problem").textContent = "";
  }

  #buttons(): HTMLElement[] {
    return [...this.content.querySelectorAll<HTMLElement>("button.comment")];
  }

  /** One of the comment buttons is reached by Tab; the arrow keys go on from there. */
  #move(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (!target.matches("button.comment")) return;
    const all = this.#buttons();
    const now = all.indexOf(target);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[to]?.focus();
  }

  #reachable(button: HTMLElement | undefined): void {
    if (!button?.matches("button.comment")) return;
    for (const each of this.content.querySelectorAll<HTMLElement>('button.comment[tabindex="0"]')) each.tabIndex = -1;
    button.tabIndex = 0;
  }
}

/** What a comment button is for: the line of code that it is in, or the block after it. */
function subjectOf(button: HTMLElement): Element {
  return button.closest(".line") ?? button.nextElementSibling ?? button;
}

function quoteOf(button: HTMLElement): string {
  return (subjectOf(button).textContent ?? "").slice(0, 300);
}
