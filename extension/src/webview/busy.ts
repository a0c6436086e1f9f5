// What the user is doing in the live view that another page would end: until then the view follows no agent.
import { editor } from "./editor";

const doing = new Set<string>();

export function setBusy(what: "tool" | "address" | "dialog", busy: boolean): void {
  const before = doing.size > 0;
  if (busy) doing.add(what);
  else doing.delete(what);
  if (before !== doing.size > 0) editor.postMessage({ type: "busy", busy: !before });
}
