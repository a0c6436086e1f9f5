// Runs in the live view's panel: draws the frames that it is sent, and reports when it has.
import type { Place } from "../core/liveview/liveview";
import type { Seen } from "../core/liveview/screencast";
import { plain } from "../core/plaintext";
import { listenToAddress, revert, showAddress, showPlace, showRefusal } from "./address";
import { editor } from "./editor";
import { listenToDevice, offerDevices, showDevice } from "./livedevice";
import { listenToDialog, showDialog } from "./livedialog";
import { listenToNote, sees, showDraft } from "./livenote";
import { listenToTools, reset, showElement, showRequest } from "./livetools";
import { askForSize, sizeOf, zoomed } from "./livezoom";
import { part } from "./part";
import { report } from "./report";

interface Page {
  id: string;
  title: string;
  url: string;
}

type Shown =
  | { type: "empty"; text: string; start: boolean }
  | { type: "pages"; pages: Page[]; current: string; following?: boolean }
  | { type: "place"; url: string; back: boolean; forward: boolean }
  | { type: "refused"; why: string }
  | { type: "frame"; number: number; data: Uint8Array<ArrayBuffer>; page: Seen }
  | { type: "pointed"; chosen: boolean; element?: { text: string; box: [number, number, number, number] } }
  | { type: "undrawn"; why: string }
  | { type: "draft"; places: Place[]; recipients: { id: string; name: string }[] }
  | { type: "targets"; boxes: readonly (readonly number[])[] }
  | { type: "asked"; text?: string }
  | { type: "click"; x: number; y: number; own: boolean }
  | { type: "takeover"; taken: boolean; text: string }
  | { type: "device"; name?: string; turned: boolean }
  | { type: "dialog"; dialog?: Parameters<typeof showDialog>[0] }
  | { type: "failed"; why?: string };

const pages = part<HTMLSelectElement>("pages");
const follow = part("follow");
const drive = part("drive");
const retry = part("retry");
const empty = part("empty");
const canvas = part<HTMLCanvasElement>("canvas");

addEventListener("message", ({ data }: MessageEvent<Shown>) => {
  if (data.type === "frame") void draw(data);
  else if (data.type === "click") mark(data.x, data.y, data.own);
  else if (data.type === "takeover") {
    drive.hidden = false;
    drive.ariaPressed = String(data.taken);
    part("driving").hidden = !data.taken;
    part("waiting").textContent = part("waiting").title = data.text;
  } else if (data.type === "dialog") showDialog(data.dialog);
  else if (data.type === "device") showDevice(data);
  else if (data.type === "pages") list(data.pages, data.current, data.following);
  else if (data.type === "place") showPlace(data);
  else if (data.type === "refused") showRefusal(data.why);
  else if (data.type === "pointed") showElement(data.chosen, data.element);
  else if (data.type === "undrawn") report(data.why);
  else if (data.type === "draft") showDraft(data.places, data.recipients);
  else if (data.type === "targets") frameTargets(data.boxes);
  else if (data.type === "asked") showRequest(data.text);
  else if (data.type === "failed") fail(data.why);
  else if (data.type === "empty") {
    part("why").textContent = data.text;
    part("start").hidden = !data.start;
    see(false);
  }
});

function see(page: boolean): void {
  empty.hidden = page;
  for (const id of ["bar", "line", "stage", "foot"]) part(id).hidden = !page;
  if (page) return;
  reset();
  showDialog();
}

/** What distinguishes a page from the others: its title, or that and its address, or its number beside. */
function labels(all: Page[]): string[] {
  const names = all.map(({ title, url }) => title || url || "…");
  const isTwin = (name: string, of: string[]) => of.filter((each) => each === name).length > 1;
  const placed = all.map(({ url }, index) => {
    const name = names[index] as string;
    return isTwin(name, names) ? `${name} · ${url.replace(/^https?:\/\//, "")}` : name;
  });
  return placed.map((name, index) => (isTwin(name, placed) ? `${index + 1}. ${name}` : name));
}

function list(all: Page[], current: string, following?: boolean): void {
  follow.hidden = following === undefined;
  offerDevices(following !== undefined);
  follow.ariaPressed = String(following);
  const names = labels(all);
  const options = all.map(({ id }, index) => {
    const option = document.createElement("option");
    option.value = id;
    option.textContent = plain(names[index] as string, 200);
    option.selected = id === current;
    if (option.selected) canvas.ariaLabel = option.textContent;
    return option;
  });
  if (pages.value !== current) {
    canvas.width = 0; // until the page's first frame
    reset(); // what the user does was meant for the other page
    revert();
  }
  pages.replaceChildren(...options);
  showAddress(all.find(({ id }) => id === current)?.url ?? "");
  pages.title = pages.selectedOptions[0]?.text ?? "";
  see(true);
}

function fail(why = ""): void {
  reset();
  if (why === "") return;
  report(why);
  retry.hidden = false;
}

/** The newest frame that is drawn: a larger one may take longer to decode than the one after it. */
let drawn = 0;

async function draw({ number, data, page }: Extract<Shown, { type: "frame" }>): Promise<void> {
  try {
    const picture = await createImageBitmap(new Blob([data], { type: "image/jpeg" }));
    if (number < drawn) {
      picture.close();
      return;
    }
    drawn = number;
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
    picture.close();
    sizeOf(page);
    sees(page);
  } finally {
    editor.postMessage({ type: "drawn", number });
  }
}

/** Frames what agents ask to act on. */
function frameTargets(boxes: readonly (readonly number[])[]): void {
  const frames = boxes.map((box) => {
    const element = document.createElement("span");
    const [left, top, width, height] = box.map((part) => `${part * 100}%`);
    element.className = "target";
    Object.assign(element.style, { left, top, width, height });
    return element;
  });
  part("targets").replaceChildren(...frames);
}

/** A ring where the page was clicked, for a moment; the user's own clicks look different. */
function mark(x: number, y: number, own: boolean): void {
  const ring = document.createElement("span");
  ring.className = own ? "click own" : "click";
  ring.style.left = `${x * 100}%`;
  ring.style.top = `${y * 100}%`;
  ring.addEventListener("animationend", () => ring.remove());
  part("marks").append(ring);
}

pages.addEventListener("change", () => editor.postMessage({ type: "choose", page: pages.value }));
retry.addEventListener("click", () => editor.postMessage({ type: "retry" }));
follow.addEventListener("click", () => {
  editor.postMessage({ type: "follow", following: follow.ariaPressed !== "true" });
});
drive.addEventListener("click", () => {
  editor.postMessage({ type: "takeOver", taken: drive.ariaPressed !== "true" });
});
part("start").addEventListener("click", () => editor.postMessage({ type: "start" }));
new ResizeObserver(() => askForSize("resize")).observe(part("screen"));
// A window that is minimised or covered need not be painted.
const reportVisibility = () => {
  if (!document.hidden) return askForSize("ready");
  reset();
  revert();
  editor.postMessage({ type: "hidden" });
};
document.addEventListener("visibilitychange", reportVisibility);
listenToAddress();
listenToDevice();
listenToTools();
listenToDialog();
listenToNote();
zoomed(); // as it was before a reload of the window
reportVisibility();
