// The status bar item: what this window offers and who is connected, at a glance.
import * as vscode from "vscode";
import { isStopped } from "../core/access/access";
import type { Permissions } from "../core/access/permission";
import { describe } from "../core/access/status";
import type { Sessions } from "../core/browser/sessions";
import type { Action, Clients } from "../core/window/clients";
import type { Store } from "../core/window/store";
import { missing } from "./folders";
import type { Window } from "./window";

/** How long after an action its agent is shown as busy. */
const workShown = 2_000;

export function showStatus(
  window: Window,
  store: Store,
  sessions: Sessions,
  clients: Clients,
  permissions: Permissions,
): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("browserCoordinator.status", vscode.StatusBarAlignment.Right, 50);
  item.name = "Browser Coordinator";
  let working: { name: string; timer: NodeJS.Timeout } | undefined;
  let lastAction: Action | undefined;

  const show = () => {
    const { serving } = window;
    const status = describe({
      state: store.state,
      unreachable: sessions.unreachable,
      problem: serving.kind === "failed" ? serving.problem : undefined,
      missing: missing(),
      clients: clients.connected,
      atWork: working?.name,
      question: permissions.question,
    });
    item.text = status.text;
    item.tooltip = status.tooltip;
    item.accessibilityInformation = { label: `Browser Coordinator: ${status.tooltip}` };
    const loud = status.kind === "waiting" || status.kind === "problem";
    item.backgroundColor = loud ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    item.command = status.kind === "waiting" ? "browserCoordinator.answerQuestion" : "browserCoordinator.showStatus";
    item.show();
  };

  const rest = () => {
    working = undefined;
    show();
  };

  const clientsChanged = () => {
    const last = clients.actions.findLast(({ kind }) => kind !== "user");
    if (last && last !== lastAction) {
      lastAction = last;
      clearTimeout(working?.timer);
      working = isStopped(store, last) ? undefined : { name: last.name, timer: setTimeout(rest, workShown) };
    }
    show();
  };

  const stop = [
    ...[store, sessions, permissions].map((part) => part.subscribe(show)),
    clients.subscribe(clientsChanged),
  ];
  show();
  return vscode.Disposable.from(item, window.onDidChange(show), vscode.workspace.onDidGrantWorkspaceTrust(show), {
    dispose() {
      clearTimeout(working?.timer);
      for (const unsubscribe of stop) unsubscribe();
    },
  });
}
