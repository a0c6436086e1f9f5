// The view "Activity": what agents did lately, the newest first. An opened action shows its details.
import { join } from "node:path";
import * as vscode from "vscode";
import { actionText } from "../../core/access/actions";
import { type Log, reason } from "../../core/log";
import { isWebUrl, nameOf, plain } from "../../core/plaintext";
import type { Action, Clients } from "../../core/window/clients";
import { readActions, writeActions } from "../../core/window/keptactivity";
import { type Row, RowView, row } from "./tree";

/** A row of an action, or of one of its details, as its commands get it. */
export interface DetailRow extends Row {
  /** The text as the client reported it, before it is made plain for display. */
  value: string;
}

/** storage is our folder of the workspace's storage; an empty window has none, and keeps nothing. */
export function openActivityView(clients: Clients, storage: string | undefined, log: Log): vscode.Disposable {
  const rows = new WeakMap<Action, Row>(); // an action does not change
  const rowOf = (action: Action) => {
    const known = rows.get(action) ?? actionRow(action);
    rows.set(action, known);
    return known;
  };
  const view = new RowView("browserCoordinator.activity", () => clients.actions.map(rowOf).reverse());
  const shown = vscode.Disposable.from(view, { dispose: clients.subscribe(view.update) });
  if (storage === undefined) return shown;
  const path = join(storage, "activity.json");
  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error(`the activity of agents could not be ${what}: ${reason(error)}`);
    }
  };
  attempt("read", () => clients.restore(readActions(path)));
  return vscode.Disposable.from(shown, {
    dispose: () => attempt("kept", () => writeActions(path, clients.actions)),
  });
}

function actionRow(action: Action): Row {
  const id = `action ${action.number}`;
  const { url = "", times } = action;
  const often = times > 1 ? `${times}× ` : "";
  const time = new Date(action.time).toLocaleTimeString(undefined, { hourCycle: "h23" }); // the shorter one
  const details = [
    detail(id, "Client", action.name),
    detail(id, "Action", action.act),
    detail(id, "Target", action.target),
    detail(id, "Outcome", action.outcome),
    detail(id, "Page", url, isWebUrl(url) ? "activity.url" : "activity.detail"),
    detail(id, times > 1 ? `Last of ${times}` : "Time", new Date(action.time).toLocaleString()),
  ].filter(({ value }) => value !== "");
  const look = {
    id,
    icon: action.ok ? "pass" : "error",
    color: action.ok ? "testing.iconPassed" : "testing.iconFailed",
    description: [plain(action.outcome, 80), nameOf(action.name, 40)].filter((part) => part !== "").join(" · "),
    tooltip: details.map(({ item }) => `${item.label}: ${item.description}`).join("\n"),
    spoken: action.ok ? "" : "failed",
    context: "activity",
  };
  return row(`${time} ${often}${plain(actionText(action), 120)}`, look, details);
}

function detail(action: string, label: string, value: string, context = "activity.detail"): DetailRow {
  const shown = plain(value, 2_000);
  return { ...row(label, { id: `${action} ${label}`, description: shown, tooltip: shown, context }), value };
}
