// The user's note to an agent, about the elements that they have picked and the areas that they have drawn.
import type { Box } from "../core/liveview/element";
import type { Place } from "../core/liveview/liveview";
import type { Seen } from "../core/liveview/screencast";
import { annotationsLimit } from "../core/window/notelimits";
import { editor } from "./editor";
import { part } from "./part";

const form = part("compose");
const comment = part<HTMLTextAreaElement>("comment");
const agents = part<HTMLSelectElement>("agents");
const list = part("picked");
const rows = new Map<number, HTMLElement>();

/** Of a number above its place, in pixels. */
const numberHeight = 24;

let places: readonly Place[] = [];
let seen: Seen | undefined;
/** The agent that the user has chosen for the note; else it is the first one. */
let chosen = "";

/** Shows what the note is about, and to whom it can go. */
export function showDraft(drawn: readonly Place[], recipients: readonly { id: string; name: string }[]): void {
  places = drawn;
  form.hidden = places.length === 0;
  if (form.hidden) comment.value = chosen = "";
  for (const id of rows.keys()) if (!places.some((place) => place.id === id)) rows.delete(id);
  const wanted = places.map(rowOf);
  for (const row of [...list.children]) if (!wanted.includes(row as HTMLElement)) row.remove();
  // One that is there already keeps the focus.
  for (const row of wanted) if (!row.isConnected) list.append(row);
  wanted.forEach((row, index) => {
    const field = row.querySelector("input") as HTMLInputElement;
    field.ariaLabel = field.placeholder = `${list.dataset.comment} ${index + 1}`;
    (row.querySelector("button") as HTMLElement).ariaLabel = `${list.dataset.remove} ${index + 1}`;
  });
  agents.replaceChildren(...recipients.map(({ id, name }) => new Option(name, id, false, id === chosen)));
  const isAlone = recipients.length === 0;
  agents.hidden = part<HTMLButtonElement>("send").disabled = isAlone;
  part("alone").hidden = !isAlone;
  part("full").hidden = places.length < annotationsLimit;
  showPlaces();
}

function rowOf({ id, element, comment, page }: Place): HTMLElement {
  const known = rows.get(id);
  if (known) return known;
  const name = Object.assign(document.createElement("span"), {
    textContent: element || list.dataset.area,
    title: page,
  });
  const field = Object.assign(document.createElement("input"), {
    value: comment,
    maxLength: 2_000,
    autocomplete: "off",
  });
  field.addEventListener("input", () => editor.postMessage({ type: "comment", id, text: field.value }));
  const remove = Object.assign(document.createElement("button"), {
    type: "button",
    className: "tool",
    textContent: "×",
    title: list.dataset.remove,
  });
  remove.addEventListener("click", () => {
    part("canvas").focus({ preventScroll: true }); // the button goes
    editor.postMessage({ type: "remove", id });
  });
  const row = document.createElement("li");
  row.append(name, field, remove);
  rows.set(id, row);
  return row;
}

/** What the newest frame shows. */
export function sees(now: Seen): void {
  const before = seen;
  seen = now;
  const isSame = before && (Object.keys(now) as (keyof Seen)[]).every((key) => before[key] === now[key]);
  if (!isSame) showPlaces();
}

/** The numbers of the places, where they are in the picture now. */
function showPlaces(): void {
  const shown = places.flatMap(({ at }, index) => (at && seen ? [mark(at, seen, index + 1)] : []));
  part("places").replaceChildren(...shown);
}

function mark(at: Box, { width, height, left, top, scale }: Seen, number: number): HTMLElement {
  const element = document.createElement("span");
  const above = (((at[1] - top) * scale) / height) * part("canvas").clientHeight;
  element.className = above < numberHeight ? "place high" : "place";
  element.append(Object.assign(document.createElement("b"), { textContent: `${number}` }));
  const share = (length: number, whole: number) => `${((length * scale) / whole) * 100}%`;
  Object.assign(element.style, {
    left: share(at[0] - left, width),
    top: share(at[1] - top, height),
    width: share(at[2], width),
    height: share(at[3], height),
  });
  return element;
}

export function listenToNote(): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    editor.postMessage({ type: "sendNote", client: agents.value, text: comment.value });
  });
  agents.addEventListener("change", () => {
    chosen = agents.value;
  });
  part("discard").addEventListener("click", () => editor.postMessage({ type: "discardNote" }));
}
