// The live view's panel in the editor. There is one.
import * as vscode from "vscode";
import { LiveView, type Shown } from "../core/liveview/liveview";
import type { Store } from "../core/window/store";
import { ownFiles, page } from "./webview";

const viewType = "browserCoordinator.liveView";

const body = `<div id="bar" hidden>
      <select id="pages" aria-label="Page"></select><span id="address"></span><span id="note" role="status"></span>
      <button id="retry" type="button" hidden>Retry</button>
    </div>
    <div id="screen" hidden>
      <div id="picture"><canvas id="canvas" width="0" height="0" role="img" aria-label="The page"></canvas><div id="marks"></div></div>
    </div>
    <div id="empty" hidden><p id="why"></p><button id="start" type="button" hidden>Start Debugging</button></div>`;

type Message =
  | { type: "ready" | "resize"; width: number; height: number }
  | { type: "choose"; page: string }
  | { type: "drawn"; number: number }
  | { type: "hidden" | "retry" | "start" };

export function offerLiveView(extension: vscode.Uri, store: Store, log: vscode.LogOutputChannel): vscode.Disposable {
  let current: vscode.WebviewPanel | undefined;
  const use = (panel: vscode.WebviewPanel) => {
    current?.dispose();
    current = panel;
    fill(panel, extension, store, log);
    panel.onDidDispose(() => {
      if (current === panel) current = undefined;
    });
  };
  const command = vscode.commands.registerCommand("browserCoordinator.openLiveView", () => {
    if (current) current.reveal(undefined, true);
    else {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      use(vscode.window.createWebviewPanel(viewType, "Live View", place, {}));
    }
  });
  const serializer = vscode.window.registerWebviewPanelSerializer(viewType, {
    deserializeWebviewPanel: async (panel) => use(panel),
  });
  return vscode.Disposable.from(command, serializer, { dispose: () => current?.dispose() });
}

function fill(panel: vscode.WebviewPanel, extension: vscode.Uri, store: Store, log: vscode.LogOutputChannel): void {
  const live = new LiveView(store, log);
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
    else void vscode.commands.executeCommand("workbench.action.debug.start");
  });
  panel.onDidChangeViewState(() => {
    if (!panel.visible) live.hide(); // its page reports when it is visible again
  });
  panel.onDidDispose(() => live.close());
  webview.html = page(webview, extension, "live", body);
}
