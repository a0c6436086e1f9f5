// The page's dialog (alert, confirm, prompt, or the question before leaving), for the user to answer.
import { editor, part } from "./editor";

interface PageDialog {
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  text: string;
  value: string;
}

const box = part("dialog");
const message = part("message");
const reply = part<HTMLInputElement>("reply");
const accept = part<HTMLButtonElement>("accept");
const dismiss = part<HTMLButtonElement>("dismiss");

/** Shows the dialog; without one, the page no longer has any. */
export function showDialog(dialog?: PageDialog): void {
  box.hidden = !dialog;
  if (!dialog) return;
  const { kind, text, value } = dialog;
  const leaving = kind === "beforeunload";
  message.textContent = (leaving ? message.dataset.leave : text) ?? "";
  reply.value = value;
  reply.hidden = kind !== "prompt";
  accept.textContent = (leaving ? accept.dataset.leave : accept.dataset.ok) ?? "";
  dismiss.textContent = (leaving ? dismiss.dataset.stay : dismiss.dataset.cancel) ?? "";
  dismiss.hidden = kind === "alert";
  if (document.hasFocus()) (reply.hidden ? accept : reply).focus();
}

function answer(accept: boolean): void {
  editor.postMessage({ type: "answerDialog", accept, text: reply.value });
}

export function listenToDialog(): void {
  part("answer").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(true);
  });
  dismiss.addEventListener("click", () => answer(false));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || dismiss.hidden) return;
    event.stopPropagation();
    answer(false);
  });
}
