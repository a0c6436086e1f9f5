// What the user does in the picture: points at an element, draws around something, or uses the page itself. All are
// off until the user turns them on, and off again when another page is shown.
import { setBusy } from "./busy";
import { editor } from "./editor";
import { part } from "./part";
import { report } from "./report";

type Mode = "watch" | "pick" | "draw" | "input";

const canvas = part<HTMLCanvasElement>("canvas");
const box = part("box");
const cross = part("cross");
const cancel = part("cancel");
const buttons = { pick: part("pick"), draw: part("draw"), input: part("input") };
const mouseButtons = ["left", "middle", "right", "back", "forward"];

let mode: Mode = "watch";
/** Where the keyboard points, in parts of the picture. */
let at = { x: 0.5, y: 0.5 };
/** The last place that is not sent yet. */
let next: { x: number; y: number; buttons: number; modifiers: number } | undefined;
let waiting = false;
/** The button that is pressed in the page. */
let pressed: number | undefined;
/** Where the area that is drawn begins. */
let corner: { x: number; y: number } | undefined;
/** It is drawn by the mouse, which is pressed. */
let dragging = false;
/** What a client asks the user to click: the browser waits for a click in the page. */
let request: string | undefined;

function become(now: Mode): void {
  mode = now;
  setBusy("tool", now !== "watch");
  document.body.dataset.mode = now;
  for (const [name, button] of Object.entries(buttons)) button.ariaPressed = String(name === now);
  canvas.role = now === "input" ? "application" : "img";
  box.hidden = cross.hidden = true;
  next = corner = undefined;
  dragging = false;
  waiting = false;
  at = { x: 0.5, y: 0.5 };
  report([request, now === "watch" ? undefined : buttons[now].dataset.note].filter(Boolean).join(" "));
  part("retry").hidden = true;
  cancel.hidden = request === undefined;
}

/** A client asks the user to click an element, or no longer does. */
export function showRequest(text?: string): void {
  request = text;
  become(text === undefined ? "watch" : "pick");
}

function toggle(to: keyof typeof buttons): void {
  if (mode === to) stop();
  else {
    become(to);
    canvas.focus({ preventScroll: true });
  }
}

/** The user ends what the mode is for. */
function stop(): void {
  if (mode === "pick" && request !== undefined) editor.postMessage({ type: "cancelAsked" });
  become("watch");
}

/** The page is another one, or gone: what the user did was meant for the last one, and what a client asked. */
export function reset(): void {
  showRequest();
}

/** The element at the place that was asked for: framed while the user points, and named when it is chosen. */
export function showElement(chosen: boolean, element?: { text: string; box: [number, number, number, number] }): void {
  if (!chosen) waiting = false;
  if (!corner) showPointed(chosen, element); // else the box shows what is drawn
  send();
}

function showPointed(chosen: boolean, element?: { text: string; box: readonly number[] }): void {
  const isPointing = mode === "pick" || mode === "draw";
  box.hidden = chosen || !element || !isPointing;
  if (!element || !(chosen || isPointing)) return;
  frame(element.box);
  report(element.text);
}

function frame(area: readonly number[]): void {
  const [left, top, width, height] = area.map((part) => `${part * 100}%`);
  Object.assign(box.style, { left, top, width, height });
}

type Point = { x: number; y: number };

/** The area between two corners. */
function areaOf(a: Point, b: Point): [number, number, number, number] {
  return [Math.min(a.x, b.x), Math.min(a.y, b.y), Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
}

/** Draws the area up to here. */
function stretch(to: Point): void {
  if (!corner) return;
  next = undefined;
  frame(areaOf(corner, to));
  box.hidden = false;
}

/** What is smaller than this, in pixels of the screen, was a click. */
const smallest = 4;

/** The area is drawn; without one the element here is meant. The mode goes on, for the next. */
function finish(to: Point): void {
  const [left, top, width, height] = areaOf(corner ?? to, to);
  const isArea = width * canvas.clientWidth >= smallest && height * canvas.clientHeight >= smallest;
  corner = undefined;
  dragging = false;
  box.hidden = true;
  editor.postMessage({ type: "drawOn", area: isArea ? [left, top, width, height] : [to.x, to.y, 0, 0] });
}

function place({ clientX, clientY }: MouseEvent): { x: number; y: number } {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const inside = (part: number) => Math.min(Math.max(part, 0), 1);
  return { x: inside((clientX - left) / width), y: inside((clientY - top) / height) };
}

function modifiersOf(event: MouseEvent | KeyboardEvent): number {
  return Number(event.altKey) + 2 * Number(event.ctrlKey) + 4 * Number(event.metaKey) + 8 * Number(event.shiftKey);
}

/** Sends the last place, once a frame, and in pick mode once the last element is known. */
function send(): void {
  if (!next || waiting) return;
  const { x, y, ...more } = next;
  next = undefined;
  if (mode === "input" || request !== undefined) {
    editor.postMessage({ type: "mouse", event: { type: "mouseMoved", x, y, ...more } });
  } else {
    waiting = true;
    editor.postMessage({ type: "point", x, y, chosen: false });
  }
}

function hover(to: { x: number; y: number }, buttons = 0, modifiers = 0): void {
  if (!next) requestAnimationFrame(send);
  next = { ...to, buttons, modifiers };
}

/** One click: should it meet nothing, the button begins again. The browser highlights what is asked for itself. */
function choose({ x, y }: { x: number; y: number }): void {
  if (request !== undefined) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
      const button = type === "mouseMoved" ? {} : { button: "left", clickCount: 1 };
      editor.postMessage({ type: "mouse", event: { type, x, y, ...button } });
    }
  } else editor.postMessage({ type: "point", x, y, chosen: true });
  become("watch"); // after that, since it lets the view follow an agent
}

function press(event: MouseEvent): void {
  event.preventDefault();
  canvas.focus({ preventScroll: true });
  pressed = event.button;
  sendButton("mousePressed", event, event.button);
}

function release(event: MouseEvent, button = pressed): void {
  if (mode === "input" && pressed !== undefined && button !== undefined) {
    event.preventDefault();
    pressed = undefined;
    sendButton("mouseReleased", event, button);
  }
  if (dragging && (event.buttons & 1) === 0) finish(place(event));
}

function sendButton(type: "mousePressed" | "mouseReleased", event: MouseEvent, index: number): void {
  const button = mouseButtons[index] ?? "none";
  const { buttons, detail: clickCount } = event;
  const params = { type, ...place(event), button, buttons, clickCount, modifiers: modifiersOf(event) };
  editor.postMessage({ type: "mouse", event: params });
}

/** Keys with Ctrl, Alt or Cmd and the function keys stay the editor's: by them the user gets out again. */
function isForPage(event: KeyboardEvent): boolean {
  const { ctrlKey, altKey, metaKey, key } = event;
  return event.getModifierState("AltGraph") || !(ctrlKey || altKey || metaKey || /^F\d/.test(key));
}

function type(event: KeyboardEvent): void {
  if (!isForPage(event)) return;
  event.preventDefault();
  event.stopPropagation();
  const { key, code, location, repeat: autoRepeat, keyCode: windowsVirtualKeyCode } = event;
  const text = key === "Enter" ? "\r" : [...key].length === 1 ? key : undefined;
  const kind = event.type === "keyup" ? "keyUp" : text ? "keyDown" : "rawKeyDown";
  const params = { key, code, location, autoRepeat, windowsVirtualKeyCode, modifiers: modifiersOf(event) };
  editor.postMessage({ type: "key", event: { type: kind, ...params, ...(kind === "keyDown" && { text }) } });
}

const steps: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The keyboard points too. */
function move(event: KeyboardEvent): void {
  const [x, y] = steps[event.key] ?? [0, 0];
  if (mode === "draw" && event.key === "Enter") finish(at);
  else if (mode === "draw" && event.key === " ") {
    corner = at;
    cross.hidden = false;
  } else if (event.key === "Enter" || event.key === " ") choose(at);
  else if (x === 0 && y === 0) return;
  else {
    const by = event.shiftKey ? 0.005 : 0.025;
    const inside = (part: number) => Math.min(Math.max(part, 0), 1);
    at = { x: inside(at.x + x * by), y: inside(at.y + y * by) };
    cross.hidden = false;
    Object.assign(cross.style, { left: `${at.x * 100}%`, top: `${at.y * 100}%` });
    if (corner) stretch(at);
    else hover(at);
  }
  event.preventDefault();
}

export function listenToTools(): void {
  for (const name of ["pick", "draw", "input"] as const) {
    buttons[name].addEventListener("click", () => toggle(name));
  }
  cancel.addEventListener("click", () => {
    become("pick");
    stop();
  });
  canvas.addEventListener("mousemove", (event) => {
    if (mode !== "watch" && !corner) hover(place(event), event.buttons, modifiersOf(event));
  });
  canvas.addEventListener("mousedown", (event) => {
    if (mode === "input") press(event);
    if (mode !== "draw" || event.button !== 0) return;
    event.preventDefault(); // nothing is selected
    canvas.focus({ preventScroll: true });
    corner = place(event);
    dragging = true;
    cross.hidden = true;
  });
  // It may leave the picture. A release outside the window may not be reported: the next move shows it.
  addEventListener("mousemove", (event) => {
    if (dragging) stretch(place(event));
    if (event.buttons === 0) release(event);
  });
  addEventListener("mouseup", (event) => release(event, event.button));
  canvas.addEventListener("click", (event) => mode === "pick" && choose(place(event)));
  canvas.addEventListener("contextmenu", (event) => {
    if (mode === "watch") return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (mode !== "input") return;
      event.preventDefault();
      const { deltaX, deltaY } = event;
      const params = { type: "mouseWheel", ...place(event), deltaX, deltaY, modifiers: modifiersOf(event) };
      editor.postMessage({ type: "mouse", event: params });
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    if (mode === "input" && !(event.key === "Escape" && event.shiftKey)) type(event);
    else if (mode === "pick" || mode === "draw") move(event);
  });
  canvas.addEventListener("keyup", (event) => mode === "input" && type(event));
  addEventListener("keydown", ({ key, shiftKey }) => {
    if (key === "Escape" && (mode === "pick" || mode === "draw" || (mode === "input" && shiftKey))) stop();
  });
}
