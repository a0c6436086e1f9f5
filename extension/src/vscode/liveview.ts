// The live view's panel in the editor. There is one.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import type { Sessions } from "../core/browser/sessions";
import { LiveView, type Shown } from "../core/liveview/liveview";
import type { KeyInput, MouseInput } from "../core/liveview/screencast";
import type { Log } from "../core/log";
import { plain } from "../core/plaintext";
import type { Notes } from "../core/window/notes";
import type { Store } from "../core/window/store";
import { missing } from "./folders";
import type { PickInView } from "./pick";
import { html, ownFiles, page } from "./webview";

const viewType = "browserCoordinator.liveView";

/** Lines in a square of 16. */
const icons = {
  reload: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M12.2 1.2v3.2H9",
  out: "M3 8h10",
  in: "M3 8h10M8 3v10",
  pick: "M6.5 13H3V3h10v3.5M7.5 7.5l6.5 2.3-2.8 1.4L9.8 14z",
  input: "M4 6a4 4 0 0 1 8 0v4a4 4 0 0 1-8 0zM8 2v4M4 6.5h8",
};

function button(id: keyof typeof icons, label: string, more = ""): string {
  const text = html(label);
  return `<button class="tool" id="${id}" type="button" title="${text}" aria-label="${text}"${more}>
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="${icons[id]}"/></svg></button>`;
}

/** The panel's page. Its texts are here, since its script has no translations. */
function body(): string {
  const levels = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4].map(
    (level) => `<option value="${level}">${level * 100} %</option>`,
  );
  const pick = l10n.t("Pick an Element");
  const note = l10n.t("Click the element, or move with the arrow keys and press Enter. Escape cancels.");
  const input = l10n.t("Send Mouse and Keyboard to the Page");
  const sent = l10n.t("Your mouse and keyboard go to the page. Shift+Escape stops it.");
  return `<main><h1 class="unseen">${html(l10n.t("Live View"))}</h1>
    <div id="bar" hidden>
      <select id="pages" aria-label="${html(l10n.t("Page"))}"></select>
      <span id="tools">${button("reload", l10n.t("Reload the Page"))}
        ${button("out", l10n.t("Zoom Out"))}
        <select id="zoom" aria-label="${html(l10n.t("Zoom"))}">
          <option value="fit">${html(l10n.t("Fit"))}</option>${levels.join("")}</select>
        ${button("in", l10n.t("Zoom In"))}
        ${button("pick", pick, ` aria-pressed="false" data-note="${html(note)}"`)}
        ${button("input", input, ` aria-pressed="false" data-note="${html(sent)}"`)}</span>
    </div>
    <div id="line" hidden><span id="note" role="status"></span><span id="address"></span>
      <button id="retry" type="button" hidden>${html(l10n.t("Retry"))}</button>
      <button id="cancel" type="button" hidden>${html(l10n.t("Cancel"))}</button></div>
    ${composer()}
    <div id="screen" hidden>
      <div id="picture"><canvas id="canvas" width="0" height="0" role="img" tabindex="0"
          aria-label="${html(l10n.t("The page"))}"></canvas>
        <div id="marks"><span id="box" hidden></span><span id="cross" hidden></span></div></div>
    </div>
    ${dialog()}
    <div id="empty" hidden><p id="why"></p>
      <button id="start" type="button" hidden>${html(l10n.t("Start Debugging"))}</button></div></main>`;
}

/** Where the user writes to an agent about what they have picked. */
function composer(): string {
  const comment = html(l10n.t("What the agent should know or do"));
  return `<form id="compose" aria-label="${html(l10n.t("Note to an agent"))}" hidden>
      <ul id="picked"></ul>
      <textarea id="comment" rows="2" maxlength="2000" aria-label="${comment}" placeholder="${comment}"></textarea>
      <select id="agents" aria-label="${html(l10n.t("Agent"))}"></select>
      <button id="send">${html(l10n.t("Send"))}</button>
      <button id="discard" type="button">${html(l10n.t("Discard"))}</button>
      <span id="alone">${html(l10n.t("No agent is connected."))}</span></form>`;
}

/** Where the dialog of the page is shown, which in a headless browser nobody sees. */
function dialog(): string {
  const labels = `data-ok="${html(l10n.t("OK"))}" data-leave="${html(l10n.t("Leave"))}"`;
  const others = `data-cancel="${html(l10n.t("Cancel"))}" data-stay="${html(l10n.t("Stay"))}"`;
  const leave = html(l10n.t("Leave this page? What was entered there may be lost."));
  return `<div id="dialog" role="alertdialog" aria-labelledby="asker" aria-describedby="message" hidden>
      <h2 id="asker">${html(l10n.t("The page shows a dialog"))}</h2>
      <p id="message" data-leave="${leave}"></p>
      <form id="answer"><input id="reply" aria-label="${html(l10n.t("Your answer"))}" autocomplete="off">
        <button id="accept" ${labels}></button><button id="dismiss" type="button" ${others}></button></form></div>`;
}

type Message =
  | { type: "ready" | "resize"; width: number; height: number }
  | { type: "choose"; page: string }
  | { type: "drawn"; number: number }
  | { type: "mouse"; event: MouseInput }
  | { type: "key"; event: KeyInput }
  | { type: "point"; x: number; y: number; chosen: boolean }
  | { type: "answerDialog"; number: number; accept: boolean; text: string }
  | { type: "sendNote"; client: string; text: string }
  | { type: "hidden" | "discardNote" | "retry" | "reload" | "start" | "cancelAsked" };

interface Panel {
  readonly panel: vscode.WebviewPanel;
  readonly live: LiveView;
}

export interface LiveViews extends vscode.Disposable {
  pick: PickInView;
}

export function offerLiveView(
  extension: vscode.Uri,
  store: Store,
  sessions: Sessions,
  notes: Notes,
  log: Log,
): LiveViews {
  let current: Panel | undefined;
  const use = (panel: vscode.WebviewPanel): Panel => {
    current?.panel.dispose();
    const mine = { panel, live: fill(panel, extension, new LiveView(store, sessions, log, notes, missing)) };
    current = mine;
    panel.onDidDispose(() => {
      if (current === mine) current = undefined;
    });
    return mine;
  };
  const open = async (): Promise<Panel> => {
    current?.panel.reveal(undefined, true);
    if (current) return current;
    const place = { viewColumn: await besideCode(), preserveFocus: true };
    return current ?? use(vscode.window.createWebviewPanel(viewType, l10n.t("Live View"), place, {}));
  };
  const command = vscode.commands.registerCommand("browserCoordinator.openLiveView", async () => void (await open()));
  const serializer = vscode.window.registerWebviewPanelSerializer(viewType, {
    deserializeWebviewPanel: async (panel) => void use(panel),
  });
  return {
    pick: async (text, page, signal) => (await open()).live.ask(text, page, signal),
    dispose: () => {
      command.dispose();
      serializer.dispose();
      current?.panel.dispose();
    },
  };
}

/** A place that takes no width from the code: another group, or a new one below. The focus stays where it is. */
async function besideCode(): Promise<vscode.ViewColumn> {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const other = all.findLast((group) => group !== activeTabGroup);
  if (other) return other.viewColumn;
  if (activeTabGroup.tabs.length === 0) return activeTabGroup.viewColumn;
  await vscode.commands.executeCommand("vscode.setEditorLayout", { orientation: 1, groups: [{}, {}] });
  return vscode.ViewColumn.Two;
}

function fill(panel: vscode.WebviewPanel, extension: vscode.Uri, live: LiveView): LiveView {
  const { webview } = panel;
  webview.options = { enableScripts: true, localResourceRoots: [ownFiles(extension)] };
  panel.iconPath = vscode.Uri.joinPath(extension, "media", "icon.png");
  const show = (shown: Shown) => void webview.postMessage(shown);
  webview.onDidReceiveMessage((message: Message) => {
    if (message.type === "ready") live.open(show, message);
    else if (message.type === "resize") live.resize(message);
    else if (message.type === "choose") live.choose(message.page);
    else if (message.type === "drawn") live.drawn(message.number);
    else if (message.type === "hidden") live.hide();
    else if (message.type === "retry") live.retry();
    else if (message.type === "reload") live.reload();
    else if (message.type === "cancelAsked") live.cancelRequest();
    else if (message.type === "answerDialog") live.answerDialog(message.number, message.accept, message.text);
    else if (message.type === "sendNote") sendNote(live, message.client, message.text);
    else if (message.type === "discardNote") live.discardNote();
    else if (message.type === "mouse") live.mouse(message.event);
    else if (message.type === "key") live.key(message.event);
    else if (message.type === "point") void point(live, message);
    else void vscode.commands.executeCommand("workbench.action.debug.start");
  });
  panel.onDidChangeViewState(() => {
    if (!panel.visible) live.hide(); // its page reports when it is visible again
  });
  const trusted = vscode.workspace.onDidGrantWorkspaceTrust(() => live.retry());
  panel.onDidDispose(() => {
    trusted.dispose();
    live.close();
  });
  webview.html = page(webview, extension, "live", l10n.t("Live View"), body());
  return live;
}

function sendNote(live: LiveView, client: string, text: string): void {
  const isSent = live.sendNote(client, text);
  const result = isSent ? l10n.t("Sent: the agent gets it with its next answer.") : l10n.t("The agent has left.");
  vscode.window.setStatusBarMessage(result, 5_000);
}

/** Shows the element at a place; the one that the user chose is copied, to paste into a chat or a test. */
async function point(live: LiveView, { x, y, chosen }: { x: number; y: number; chosen: boolean }): Promise<void> {
  const element = await live.point(x, y, chosen);
  if (!chosen || !element) return;
  await vscode.env.clipboard.writeText(element.text);
  vscode.window.setStatusBarMessage(l10n.t("Copied {0}", plain(element.text, 100)), 5_000);
}
