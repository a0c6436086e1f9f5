// The page's dialog (alert, confirm, prompt, or the question before leaving), for the user to answer.
import { pause } from "../core/sight";
import { setBusy } from "./busy";
import { editor } from "./editor";
import { part } from "./part";

interface PageDialog {
  number: number;
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  text: string;
  value: string;
}

const box = part("dialog");
const message = part("message");
const reply = part<HTMLInputElement>("reply");
const accept = part<HTMLButtonElement>("accept");
const dismiss = part<HTMLButtonElement>("dismiss");

/** Of the dialog that is shown. */
let number = 0;
let timer: ReturnType<typeof setTimeout>;

/** Shows the dialog; without one, the page no longer has any. */
export function showDialog(dialog?: PageDialog): void {
  box.hidden = !dialog;
  setBusy("dialog", dialog !== undefined);
  clearTimeout(timer);
  if (!dialog) return;
  number = dialog.number;
  const { kind, text, value } = dialog;
  const leaving = kind === "beforeunload";
  message.textContent = (leaving ? message.dataset.leave : text) ?? "";
  reply.value = value;
  reply.hidden = kind !== "prompt";
  accept.textContent = (leaving ? accept.dataset.leave : accept.dataset.ok) ?? "";
  dismiss.textContent = (leaving ? dismiss.dataset.stay : dismiss.dataset.cancel) ?? "";
  dismiss.hidden = kind === "alert";
  if (document.hasFocus()) reply.focus(); // of a hidden one nothing comes
  accept.disabled = dismiss.disabled = true;
  timer = setTimeout(() => {
    accept.disabled = dismiss.disabled = false;
    if (document.hasFocus() && reply.hidden) accept.focus();
  }, pause);
}

function answer(accept: boolean): void {
  editor.postMessage({ type: "answerDialog", number, accept, text: reply.value });
}

export function listenToDialog(): void {
  part("answer").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(true);
  });
  dismiss.addEventListener("click", () => answer(false));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || dismiss.hidden || dismiss.disabled) return;
    event.stopPropagation();
    answer(false);
  });
}
