// The user's note to an agent, about the elements that they have picked.
import { editor, part } from "./editor";

const form = part("compose");
const comment = part<HTMLTextAreaElement>("comment");
const agents = part<HTMLSelectElement>("agents");

/** Shows what the note is about, and to whom it can go. */
export function showDraft(elements: readonly string[], recipients: readonly { id: string; name: string }[]): void {
  form.hidden = elements.length === 0;
  if (form.hidden) comment.value = "";
  const items = elements.map((textContent) => Object.assign(document.createElement("li"), { textContent }));
  part("picked").replaceChildren(...items);
  const selected = agents.value;
  agents.replaceChildren(...recipients.map(({ id, name }) => new Option(name, id, false, id === selected)));
  const isAlone = recipients.length === 0;
  agents.hidden = part<HTMLButtonElement>("send").disabled = isAlone;
  part("alone").hidden = !isAlone;
}

export function listenToNote(): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    editor.postMessage({ type: "sendNote", client: agents.value, text: comment.value });
  });
  part("discard").addEventListener("click", () => editor.postMessage({ type: "discardNote" }));
}
