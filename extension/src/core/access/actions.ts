// What agents and CDP clients want to do and have done, in words for the human.

import { clientName, plain, siteOf } from "../plaintext";
import type { Client, PermissionAskArg } from "../protocol/protocol.generated";

/** The methods of CDP that people meet. The others stand by their own names, which say what they do. */
const methods: Record<string, string> = {
  "DOM.setFileInputFiles": "choose files",
  "Debugger.evaluateOnCallFrame": "run a script",
  "Input.dispatchDragEvent": "drag",
  "Input.dispatchKeyEvent": "press a key",
  "Input.dispatchMouseEvent": "use the mouse",
  "Input.dispatchTouchEvent": "touch",
  "Input.insertText": "type",
  "Network.deleteCookies": "delete a cookie",
  "Network.setCookie": "set a cookie",
  "Page.addScriptToEvaluateOnNewDocument": "run a script in each new page",
  "Page.handleJavaScriptDialog": "answer the page's dialog",
  "Page.navigate": "open a page",
  "Page.reload": "load the page anew",
  "Runtime.callFunctionOn": "run a script",
  "Runtime.evaluate": "run a script",
  "Target.activateTarget": "bring a tab to the front",
  "Target.closeTarget": "close a tab",
  "Target.createTarget": "open a tab",
};

/** `click button "Buy"`, `open a page: http://127.0.0.1:5173/`. What an agent's tool is asked for says what it does. */
export function askedText({ act, detail }: { act: string; detail: string }, most = 160): string {
  const text = detail === "" || isMethod(act) ? doneText({ act, target: detail }) : detail;
  return plain(text, most) || plain(doneText({ act, target: "" }), most) || "something that it does not name";
}

/** `click button "Buy"` for browser_click and its target. */
export function doneText({ act, target }: { act: string; target: string }): string {
  const name = isMethod(act) ? (methods[act] ?? act) : act.replace(/^browser_/, "").replaceAll("_", " ");
  return plain(target, 200) === "" ? name : `${name}${isMethod(act) ? ":" : ""} ${target}`;
}

/** Whether it is a method of CDP, and no tool. */
function isMethod(act: string): boolean {
  return /^[A-Z]\w*\.\w+$/.test(act);
}

/** So many acts stand in a question; what stands there is what "once" allows. */
const namedActs = 3;

/** The acts that a question names. */
export function named<Act>({ acts }: { acts: readonly Act[] }): readonly Act[] {
  return acts.slice(0, namedActs);
}

/** "Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy"; press Enter. 2 more acts wait." */
export function questionText({ client, acts }: { client: Client; acts: readonly PermissionAskArg[] }): string {
  const shown = named({ acts });
  const [first] = shown;
  if (!first) return "";
  const where = placeOf(first);
  const most = shown.length > 1 ? 80 : 160;
  const texts = shown.map((act) => askedText(act, most) + (placeOf(act) === where ? "" : placeOf(act)));
  const waiting = acts.length - shown.length;
  const more = waiting === 0 ? "" : ` ${waiting} more ${waiting === 1 ? "act waits" : "acts wait"}.`;
  return `${clientName(client)} wants to act${where}: ${texts.join("; ")}.${more}`;
}

/** ` on “Shop” (127.0.0.1:5173)`, or nothing. */
export function placeOf({ page }: Pick<PermissionAskArg, "page">): string {
  if (!page) return "";
  const title = plain(page.title, 60);
  const site = siteOf(page.url);
  return title === "" ? ` on ${site}` : ` on “${title}” (${site})`;
}
