// Runs in the review panel: shows what it is sent, and reports that.
import { editor, part } from "./editor";

interface Show {
  revision: number;
  html: string;
  author: string;
  /** What the editor keeps for this panel when the window is reloaded. */
  keep: object;
}

const content = part("content");
const author = part("author");

addEventListener("message", ({ data }: MessageEvent<Show>) => {
  content.innerHTML = data.html; // made by core/review/markdown.ts; the page's policy runs no script of it
  author.textContent = `From ${data.author}`;
  editor.setState(data.keep);
  // Not after a frame: a window that is minimised paints none.
  editor.postMessage({ type: "shown", revision: data.revision });
});

content.addEventListener("click", (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-file]");
  if (!link) return;
  event.preventDefault();
  const { file, line, column } = link.dataset;
  editor.postMessage({ type: "open", file, line: Number(line), column: Number(column) });
});

editor.postMessage({ type: "ready" });
