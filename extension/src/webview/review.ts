// Runs in the review panel: shows what it is sent, reports that, and what the user does with it.
import { pause } from "../core/sight";
import { Draft } from "./draft";
import { editor } from "./editor";
import { part } from "./part";

interface Status {
  text: string;
  answered: boolean;
}

type Message =
  | { type: "status"; status: Status }
  | { type: "applied"; line: number; text: string }
  | {
      type: "show";
      revision: number;
      html: string;
      author: string;
      /** What the editor keeps for this panel when the window is reloaded. */
      keep: object;
      status: Status;
    };

const content = part("content");
const author = part("author");
const draft = new Draft(content);
let revision = 0;
let changed = Number.NEGATIVE_INFINITY;

addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data.type === "applied") {
    const result = content.querySelector(`.result[data-line="${data.line}"]`);
    if (result) result.textContent = data.text;
    return;
  }
  if (data.type === "show") show(data);
  else draft.status(data.status.answered);
  part("status").textContent = data.status.text;
});

function show({ html, author: from, keep, revision: shown, status }: Message & { type: "show" }): void {
  if (revision > 0) changed = performance.now();
  revision = shown;
  author.textContent = from;
  draft.show(html, keep, status.answered);
  // Not after a frame: a window that is minimised paints none.
  editor.postMessage({ type: "shown", revision });
}

content.addEventListener("click", (event) => {
  const target = event.target as Element;
  const button = target.closest("button");
  const link = target.closest<HTMLAnchorElement>("a[data-file]");
  if (button?.matches(".comment")) draft.comment(button);
  else if (button?.matches(".copy, .apply")) act({ type: button.className, line: Number(button.dataset.line) });
  else if (link) {
    event.preventDefault();
    const { file, line, column } = link.dataset;
    editor.postMessage({ type: "open", file, line: Number(line), column: Number(column) });
  }
});

for (const [id, outcome] of [
  ["approve", "approved"],
  ["changes", "changes"],
]) {
  part(id as string).addEventListener("click", () => {
    const answer = draft.answer();
    const empty = outcome === "changes" && answer.text === "" && answer.comments.length === 0;
    part("problem").textContent = empty ? (part("problem").dataset.empty ?? "") : "";
    if (empty) part("text").focus();
    else act({ type: "answer", outcome, ...answer });
  });
}

function act(message: object): void {
  if (performance.now() - changed > pause) editor.postMessage({ ...message, revision });
}

editor.postMessage({ type: "ready" });
