// The address of the page: the browser's own, until the user types another one. Back, forward and reload beside it.
import { setBusy } from "./busy";
import { editor } from "./editor";
import { part } from "./part";
import { report } from "./report";

const field = part<HTMLInputElement>("address");
const buttons = { back: part("back"), forward: part("forward") };

/** What the browser reports of the page; of one that only the debugger has, its history does. */
const reported = { page: "", history: "" };
/** Whether the user has typed what the field has. */
let typed = false;

function show(): void {
  if (typed) return;
  const url = reported.page || reported.history;
  field.setCustomValidity("");
  field.title = url;
  if (field.value === url) return;
  field.value = url;
  if (document.activeElement === field) field.select(); // for the next one
}

export function showAddress(url: string): void {
  reported.page = url;
  show();
}

export function showPlace({ url, back, forward }: { url: string; back: boolean; forward: boolean }): void {
  reported.history = url;
  // Disabled, they would lose the focus of a user who goes back by keyboard.
  buttons.back.ariaDisabled = String(!back);
  buttons.forward.ariaDisabled = String(!forward);
  show();
}

/** Shows why what was typed is not opened, and leaves it there to be corrected, unless the user has gone on. */
export function showRefusal(why: string): void {
  if (!field.matches(":focus")) {
    report(why);
    return;
  }
  setTyped(true);
  field.setCustomValidity(why);
  field.reportValidity();
}

/** Drops what was typed. */
export function revert(): void {
  setTyped(false);
  show();
}

function setTyped(is: boolean): void {
  typed = is;
  setBusy("address", is);
}

export function listenToAddress(): void {
  for (const type of ["back", "forward", "reload"]) {
    part(type).addEventListener("click", () => editor.postMessage({ type }));
  }
  part("go").addEventListener("submit", (event) => {
    event.preventDefault();
    typed = false; // the browser reports the next one
    field.select();
    editor.postMessage({ type: "navigate", address: field.value }); // may be refused before this returns
    setBusy("address", typed); // after that, since it lets the view follow an agent
  });
  field.addEventListener("input", () => {
    setTyped(true);
    field.setCustomValidity("");
  });
  field.addEventListener("focus", () => field.select());
  field.addEventListener("blur", revert);
  field.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    revert();
    field.select();
  });
}
