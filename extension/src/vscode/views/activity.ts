// The view "Activity": what agents did lately, the newest first. An opened action shows its details.
import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { actionLine, actorsOf, clock, grouped, groupLine } from "../../core/access/activity";
import { type Log, reason } from "../../core/log";
import { isWebUrl, nameOf, plain } from "../../core/plaintext";
import { readActions, writeActions } from "../../core/window/activityfile";
import type { Action, Clients } from "../../core/window/clients";
import { type Row, RowView, row } from "./tree";

/** A row of an action, or of one of its details, as its commands get it. */
export interface DetailRow extends Row {
  /** The text as the client reported it, before it is made plain for display. */
  value: string;
}

/** storage is our folder of the workspace's storage; an empty window has none, and keeps nothing. */
export function openActivityView(
  clients: Clients,
  storage: string | undefined,
  /** Called whenever the user may see an action. */
  onSight: () => void,
  log: Log,
): vscode.Disposable {
  let only: string | undefined; // the client whose actions alone are shown, by its name
  const named = remembered((action) => actionRow(action, true));
  const unnamed = remembered((action) => actionRow(action, false));
  const view = new RowView("browserCoordinator.activity", () => {
    const shown = clients.actions.filter(({ name }) => only === undefined || name === only);
    return grouped(shown).map((group) => {
      const [newest] = group;
      if (newest && group.length === 1) return only === undefined ? named(newest) : unnamed(newest);
      return groupRow(group, only === undefined, group.map(unnamed));
    });
  });
  const update = () => {
    if (view.view.visible && clients.actions.length > 0) onSight();
    if (!clients.actions.some(({ name }) => name === only)) only = undefined; // nothing of it is listed any longer
    view.view.description = only === undefined ? "" : nameOf(only, 40);
    view.update();
  };
  const filter = vscode.commands.registerCommand("browserCoordinator.filterActivity", async () => {
    const picked = await pickActor(clients.actions, only);
    if (!picked) return;
    only = picked.name;
    update();
  });
  const shown = vscode.Disposable.from(view, filter, view.view.onDidChangeVisibility(update), {
    dispose: clients.subscribe(update),
  });
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

/** Whose actions to show; a name of undefined stands for all. */
async function pickActor(actions: readonly Action[], only: string | undefined): Promise<{ name?: string } | undefined> {
  const item = (label: string, name?: string) => ({
    label: `${name === only ? "$(check)" : "$(blank)"} ${label}`,
    ...(name !== undefined && { name }),
  });
  const items = [item(l10n.t("All agents")), ...actorsOf(actions).map((name) => item(nameOf(name), name))];
  return vscode.window.showQuickPick(items, { title: l10n.t("Whose activity do you want to see?") });
}

/** An action does not change, so its row is made once. */
function remembered(make: (action: Action) => Row): (action: Action) => Row {
  const rows = new WeakMap<Action, Row>();
  return (action) => {
    const known = rows.get(action) ?? make(action);
    rows.set(action, known);
    return known;
  };
}

function groupRow(group: readonly Action[], named: boolean, below: Row[]): Row {
  const { label, description } = groupLine(group, named);
  return row(label, { id: `run ${group[0]?.run}`, description, context: "group" }, below);
}

function actionRow(action: Action, named: boolean): Row {
  const id = `action ${action.number}`;
  const { url = "", times } = action;
  const details = [
    detail(id, l10n.t("Agent"), action.name),
    detail(id, l10n.t("Action"), action.act),
    detail(id, l10n.t("Target"), action.target),
    detail(id, l10n.t("Outcome"), action.outcome),
    detail(id, l10n.t("Page"), url, isWebUrl(url) ? "activity.url" : "activity.detail"),
    detail(id, times > 1 ? l10n.t("Last of {0}", times) : l10n.t("Time"), clock(action.time)),
  ].filter(({ value }) => value !== "");
  const tooltip = details.map(({ item }) => `${item.label}: ${item.description}`).join("\n");
  const { label, description } = actionLine(action, named);
  // Only what failed has an icon: in a narrow side bar the words need the space.
  const failed = { icon: "error", color: "testing.iconFailed", spoken: l10n.t("failed") };
  const look = { id, description, tooltip, context: "activity", ...(!action.ok && failed) };
  return row(label, look, details);
}

function detail(action: string, label: string, value: string, context = "activity.detail"): DetailRow {
  const shown = plain(value, 2_000);
  return { ...row(label, { id: `${action} ${label}`, description: shown, tooltip: shown, context }), value };
}
