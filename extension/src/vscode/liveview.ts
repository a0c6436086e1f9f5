// The live view's panel in the editor. There is one.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { setTakenOver } from "../core/access/access";
import type { Sessions } from "../core/browser/sessions";
import { type Agents, LiveView, type Shown } from "../core/liveview/liveview";
import { type Message, receive } from "../core/liveview/message";
import { body } from "../core/liveview/page";
import type { Log } from "../core/log";
import { plain } from "../core/plaintext";
import type { Notes } from "../core/window/notes";
import type { Store } from "../core/window/store";
import { missing } from "./folders";
import type { PickInView } from "./pick";
import { ownFiles, page } from "./webview";

const viewType = "browserCoordinator.liveView";

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
  agents: Agents,
  log: Log,
): LiveViews {
  let current: Panel | undefined;
  const use = (panel: vscode.WebviewPanel): Panel => {
    current?.panel.dispose();
    const live = new LiveView(store, sessions, log, notes, agents, missing);
    const mine = { panel, live: fill(panel, extension, live, (taken) => setTakenOver(store, taken)) };
    current = mine;
    panel.onDidDispose(() => {
      if (current === mine) current = undefined;
    });
    return mine;
  };
  const open = (): Panel => {
    current?.panel.reveal(undefined, true);
    if (current) return current;
    const place = { viewColumn: besideCode(), preserveFocus: true };
    return use(vscode.window.createWebviewPanel(viewType, l10n.t("Live View"), place, {}));
  };
  const command = vscode.commands.registerCommand("browserCoordinator.openLiveView", () => void open());
  const serializer = vscode.window.registerWebviewPanelSerializer(viewType, {
    deserializeWebviewPanel: async (panel) => void use(panel),
  });
  return {
    pick: async (text, page, signal) => open().live.ask(text, page, signal),
    dispose: () => {
      command.dispose();
      serializer.dispose();
      current?.panel.dispose();
    },
  };
}

/** Another group than that of the code, as the user has arranged them; with one group, beside it. */
function besideCode(): vscode.ViewColumn {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const other = all.findLast((group) => group !== activeTabGroup);
  if (other) return other.viewColumn;
  return activeTabGroup.tabs.length === 0 ? activeTabGroup.viewColumn : vscode.ViewColumn.Beside;
}

function fill(
  panel: vscode.WebviewPanel,
  extension: vscode.Uri,
  live: LiveView,
  takeOver: (taken: boolean) => void,
): LiveView {
  const { webview } = panel;
  webview.options = { enableScripts: true, localResourceRoots: [ownFiles(extension)] };
  panel.iconPath = vscode.Uri.joinPath(extension, "media", "icon.png");
  const show = (shown: Shown) => void webview.postMessage(shown);
  webview.onDidReceiveMessage((message: Message) => {
    if (message.type === "sendNote") void sendNote(live, message.client, message.text);
    else if (message.type === "takeOver") takeOver(message.taken);
    else if (message.type === "point") void point(live, message);
    else if (message.type === "start") void vscode.commands.executeCommand("workbench.action.debug.start");
    else receive(live, message, show);
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

async function sendNote(live: LiveView, client: string, text: string): Promise<void> {
  const isSent = await live.sendNote(client, text);
  if (isSent !== undefined) showSent(isSent);
}

/** Shows whether an agent can get the user's note. */
export function showSent(isSent: boolean): void {
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
