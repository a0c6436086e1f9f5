// The live view's zoom: the whole page in the panel, or so many pixels of the screen for each of the page.
import { editor } from "./editor";
import { part } from "./part";

const canvas = part<HTMLCanvasElement>("canvas");
const screen = part("screen");
const zoom = part<HTMLSelectElement>("zoom");
const levels = [...zoom.options].map(({ value }) => Number(value)).filter((level) => level > 0);

let page = { width: 0, height: 0 };

const state = editor.getState() as { zoom?: string } | undefined;
zoom.value = state?.zoom ?? "fit";
editor.setState({ zoom: zoom.value }); // so that the panel comes back after a reload of the window

/** The size of what the frames show, in the page's own pixels. */
export function sizeOf(shown: { width: number; height: number }): void {
  const changed = shown.width !== page.width || shown.height !== page.height;
  page = shown;
  if (changed) zoomed();
}

/** The page is to be as large as the zoom says. */
export function zoomed(): void {
  const level = Number(zoom.value);
  canvas.style.width = level > 0 && page.width > 0 ? `${page.width * level}px` : "";
  document.body.classList.toggle("zoomed", level > 0);
  canvas.classList.toggle("enlarged", level > 1);
  if (level > 0) askForSize("resize");
}

/** Asks for frames with as many pixels as are shown. */
export function askForSize(type: "ready" | "resize"): void {
  const level = Number(zoom.value);
  const room = screen.clientWidth > 0 ? screen : document.body; // before the first page there is no screen
  const { paddingTop, paddingLeft } = getComputedStyle(room);
  const [width, height] =
    level > 0 && page.width > 0
      ? [page.width * level, page.height * level]
      : [room.clientWidth - 2 * Number.parseFloat(paddingLeft), room.clientHeight - 2 * Number.parseFloat(paddingTop)];
  editor.postMessage({ type, width: width * devicePixelRatio, height: height * devicePixelRatio });
}

function choose(value: string): void {
  zoom.value = value;
  editor.setState({ zoom: value });
  zoomed();
  if (value === "fit") askForSize("resize");
}

/** The next level above or below what is shown now. */
function step(by: 1 | -1): void {
  const now = canvas.clientWidth / (page.width || canvas.clientWidth || 1);
  const next = by > 0 ? levels.find((level) => level > now + 0.01) : levels.findLast((level) => level < now - 0.01);
  if (next) choose(String(next));
}

zoom.addEventListener("change", () => choose(zoom.value));
part("in").addEventListener("click", () => step(1));
part("out").addEventListener("click", () => step(-1));
