// Describes to the user what agents and CDP clients want to do and have done.

import * as l10n from "@vscode/l10n";
import { clientName, code, nameOf, plain, siteOf } from "../plaintext";
import type { AnnotatedNode, Client, PendingQuestion, PermissionAskArg } from "../protocol/protocol.generated";
import { visible } from "../visible";

/** The action of a CDP client that joins: the user allows its connections, not each action. */
export const connecting = "connect";

/** An agent asks for a tab of the user's own browser. The user is asked each time, and chooses the tab. */
export const requestingTab = "tab.request";

/** An agent asks to record what the user does. The user is asked each time. */
export const recordingUser = "browser_record_user";

/** A recording of what the user does is under way, and the user can end it. */
export const showingRecording = "record.show";

/** Whether it asks nothing: a recording is under way. */
export function isRecording({ actions }: Pick<PendingQuestion, "actions">): boolean {
  return actions.some(({ action }) => action.act === showingRecording);
}

/** The CDP methods that users meet most. The others are shown by their own names. */
const methods = (): Record<string, string> => ({
  "DOM.setFileInputFiles": l10n.t("choose files"),
  "Debugger.evaluateOnCallFrame": l10n.t("run a script"),
  "Input.dispatchDragEvent": l10n.t("drag"),
  "Input.dispatchKeyEvent": l10n.t("press a key"),
  "Input.dispatchMouseEvent": l10n.t("use the mouse"),
  "Input.dispatchTouchEvent": l10n.t("touch"),
  "Input.insertText": l10n.t("type"),
  "Network.deleteCookies": l10n.t("delete a cookie"),
  "Network.setCookie": l10n.t("set a cookie"),
  "Page.addScriptToEvaluateOnNewDocument": l10n.t("run a script in each new page"),
  "Page.handleJavaScriptDialog": l10n.t("answer the page's dialog"),
  "Page.navigate": l10n.t("open a page"),
  "Page.reload": l10n.t("reload the page"),
  "Runtime.callFunctionOn": l10n.t("run a script"),
  "Runtime.evaluate": l10n.t("run a script"),
  "Target.activateTarget": l10n.t("bring a tab to the front"),
  "Target.closeTarget": l10n.t("close a tab"),
  "Target.createTarget": l10n.t("open a tab"),
});

/**
 * `Click button "Buy"`. The detail of an agent's tool describes the action by itself. The agent's own words for it
 * follow, as its own: they may be untrue.
 */
export function requestText(
  { act, detail, claim = "" }: Pick<PermissionAskArg, "act" | "detail" | "claim">,
  most = 240,
) {
  if (act === connecting) return l10n.t("control this browser");
  const text = detail === "" ? actionText({ act, target: "" }) : oneLine(detail);
  const items =
    (plain(text, 1) === "" // nothing that one sees
      ? ""
      : fits(text, most)
        ? code(text, most)
        : l10n.t("{0} (in full below: {1} characters)", code(text, 60), text.length)) ||
    plain(actionText({ act, target: "" }), most) ||
    l10n.t("something that it does not name");
  const claimed = plain(claim.replace(/["“”„‟]/g, "'"), most / 4);
  return claimed === "" ? items : l10n.t("{0} (the agent calls it “{1}”)", items, claimed);
}

/** What is behind a comment stays visible. */
function oneLine(text: string): string {
  return text.trim().replace(/\s*[\n\r\u2028\u2029]\s*/g, " ↵ ");
}

function fits(text: string, most: number): boolean {
  return [...code(text, Infinity)].length <= most;
}

/**
 * What the actions that a question names do, in full, where its text has not all of it; else empty. It is for a place
 * that scrolls: anything could be in a part that is left out.
 */
export function fullText(actions: readonly PermissionAskArg[]): string {
  const shown = named({ actions });
  const most = mostOf(shown);
  return shown
    .filter(({ act, detail }) => act !== connecting && act !== showingRecording && !fits(oneLine(detail), most))
    .map(({ detail }) => visible(detail))
    .join("\n\n");
}

/** How many characters of each action are in the text of a question. */
function mostOf(shown: readonly unknown[]): number {
  return shown.length > 1 ? 80 : 240;
}

/** `click button "Buy"` for browser_click and its target. */
export function actionText({ act, target }: { act: string; target: string }): string {
  if (act === "debug_breakpoints" && target !== "") return plain(target, 200); // a sentence
  const known = isMethod(act) ? (methods()[act] ?? act) : tools()[act];
  const name = known ?? act.replace(/^browser_/, "").replaceAll("_", " ");
  return plain(target, 200) === "" ? name : `${name}${isMethod(act) ? ":" : ""} ${target}`;
}

/** The tools whose names are no words for what they do. */
const tools = (): Record<string, string> => ({
  browser_console_messages: l10n.t("read the console"),
  browser_dom: l10n.t("read the HTML"),
  browser_markdown: l10n.t("read"),
  browser_mouse_click_xy: l10n.t("click at a point"),
  browser_mouse_drag_xy: l10n.t("drag"),
  browser_mouse_move_xy: l10n.t("move the mouse"),
  browser_network_request: l10n.t("read a request"),
  browser_network_requests: l10n.t("read the requests"),
  browser_snapshot: l10n.t("read the page"),
  browser_tabs: l10n.t("see the tabs"),
});

/** What waits while the user has taken over the browser: "Claude Code waits: click button "Buy"". */
export function waitingText(running: readonly { name: string; act: string; target: string }[]): string {
  if (running.length === 0) return l10n.t("The actions of agents wait until you give the browser back.");
  return running.map((call) => l10n.t("{0} waits: {1}", nameOf(call.name), plain(actionText(call), 160))).join(" · ");
}

/** Whether it is a method of CDP, and no tool. */
function isMethod(act: string): boolean {
  return /^[A-Z]\w*\.\w+$/.test(act);
}

/** The user's name for a category of actions; undefined where a newer coordinator has another one. */
export function categoryName(category: string): string | undefined {
  switch (category) {
    case "input":
      return l10n.t("Clicks and Typing");
    case "navigation":
      return l10n.t("Navigation");
    case "script":
      return l10n.t("Scripts");
    case "storage":
      return l10n.t("Cookies and Storage");
    case "debugger":
      return l10n.t("Debugging");
    default:
      return undefined;
  }
}

/** Whether actions of this category are not on a site: cookies of all sites, and what is being debugged. */
export function isOfEverySite(category: string): boolean {
  return category === "storage" || category === "debugger";
}

/** A question lists this many actions; "once" allows only those that are listed. */
const shownActions = 3;

/** The actions that a question lists. */
export function named<Action>({ actions }: { actions: readonly Action[] }): readonly Action[] {
  return actions.slice(0, shownActions);
}

/** The elements that the actions which the text names are on. */
export function askedNodes(actions: readonly PermissionAskArg[]): AnnotatedNode[] {
  return named({ actions }).flatMap(({ nodes = [] }) => nodes);
}

/** "Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy"; press Enter." */
export function questionText({ client, actions }: { client: Client; actions: readonly PermissionAskArg[] }): string {
  const shown = named({ actions });
  const [first] = shown;
  if (!first) return "";
  if (first.act === connecting) return l10n.t("{0} wants to control this browser.", clientName(client));
  if (first.act === showingRecording) return recordingText(clientName(client), first.detail);
  const place = placeOf(first);
  const most = mostOf(shown);
  if (first.act === requestingTab) return l10n.t("{0} wants to {1}.", clientName(client), requestText(first, most));
  const texts = shown.map((each) => requestText(each, most) + (placeOf(each) === place ? "" : placeOf(each)));
  const waiting = actions.length - shown.length;
  const text = l10n.t("{0} wants to act{1}: {2}.", clientName(client), place, texts.join("; "));
  if (waiting === 0) return text;
  return `${text} ${waiting === 1 ? l10n.t("1 more action waits.") : l10n.t("{0} more actions wait.", waiting)}`;
}

/** What the user reads while a client records. */
export function recordingText(client: string, message: string): string {
  const shown = plain(message, 300);
  if (shown === "") return l10n.t("{0} records what you do in the page.", client);
  return l10n.t("{0} records what you do in the page: {1}", client, shown);
}

/** ` on “Shop” (127.0.0.1:5173)`, or nothing. */
export function placeOf({ page }: Pick<PermissionAskArg, "page">): string {
  if (!page) return "";
  const title = plain(page.title, 60);
  const site = siteOf(page.url);
  return ` ${title === "" ? l10n.t("on {0}", site) : l10n.t("on “{0}” ({1})", title, site)}`;
}
