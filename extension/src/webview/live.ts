// Runs in the live view's panel: draws the frames that it is sent, and reports when it has.
import { editor, part } from "./editor";

interface Page {
  id: string;
  title: string;
  url: string;
}

type Shown =
  | { type: "empty"; text: string; start: boolean }
  | { type: "pages"; pages: Page[]; current: string }
  | { type: "frame"; number: number; data: Uint8Array<ArrayBuffer> }
  | { type: "click"; x: number; y: number }
  | { type: "failed"; why?: string };

const pages = part<HTMLSelectElement>("pages");
const address = part("address");
const note = part("note");
const retry = part("retry");
const empty = part("empty");
const screen = part("screen");
const canvas = part<HTMLCanvasElement>("canvas");

addEventListener("message", ({ data }: MessageEvent<Shown>) => {
  if (data.type === "frame") void draw(data.number, data.data);
  else if (data.type === "click") mark(data.x, data.y);
  else if (data.type === "pages") list(data.pages, data.current);
  else if (data.type === "failed") fail(data.why);
  else {
    part("why").textContent = data.text;
    part("start").hidden = !data.start;
    see(false);
  }
});

function see(page: boolean): void {
  empty.hidden = page;
  screen.hidden = !page;
  part("bar").hidden = !page;
}

function list(all: Page[], current: string): void {
  const options = all.map(({ id, title, url }) => {
    const option = document.createElement("option");
    option.value = id;
    option.textContent = title || url || "A page without a title";
    option.selected = id === current;
    if (option.selected) canvas.ariaLabel = `The page ${option.textContent}`;
    return option;
  });
  if (pages.value !== current) canvas.width = 0; // until the page's first frame
  pages.replaceChildren(...options);
  address.textContent = all.find(({ id }) => id === current)?.url ?? "";
  address.title = address.textContent;
  pages.title = pages.selectedOptions[0]?.text ?? "";
  see(true);
}

function fail(why = ""): void {
  note.textContent = why;
  retry.hidden = why === "";
}

async function draw(number: number, data: Uint8Array<ArrayBuffer>): Promise<void> {
  try {
    const picture = await createImageBitmap(new Blob([data], { type: "image/jpeg" }));
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
    picture.close();
  } finally {
    editor.postMessage({ type: "drawn", number });
  }
}

/** A ring where the page was clicked, for a moment. */
function mark(x: number, y: number): void {
  const ring = document.createElement("span");
  ring.className = "click";
  ring.style.left = `${x * 100}%`;
  ring.style.top = `${y * 100}%`;
  ring.addEventListener("animationend", () => ring.remove());
  part("marks").append(ring);
}

function size(): object {
  const width = screen.parentElement?.clientWidth ?? 0;
  return { width: width * devicePixelRatio, height: innerHeight * devicePixelRatio };
}

pages.addEventListener("change", () => editor.postMessage({ type: "choose", page: pages.value }));
retry.addEventListener("click", () => editor.postMessage({ type: "retry" }));
part("start").addEventListener("click", () => editor.postMessage({ type: "start" }));
addEventListener("resize", () => editor.postMessage({ type: "resize", ...size() }));
// A window that is minimised or covered need not be painted.
const seen = () => editor.postMessage({ type: document.hidden ? "hidden" : "ready", ...size() });
document.addEventListener("visibilitychange", seen);
editor.setState({}); // so that the panel comes back after a reload of the window
seen();
