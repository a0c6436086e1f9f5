// The view "Activity": what agents did lately, the newest first. An opened action shows its details.
import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import {
  actionLine,
  actorName,
  actorsOf,
  allowedBy,
  clock,
  duration,
  effectName,
  grouped,
  groupLine,
  placeFrom,
  problemsOf,
  runningLine,
} from "../../core/access/activity";
import { type Log, reason } from "../../core/log";
import { excerpt, isWebUrl, plain } from "../../core/plaintext";
import type { ActivityDetails, ActivityEffect } from "../../core/protocol/protocol.generated";
import { readActions, writeActions } from "../../core/window/activityfile";
import type { Action, Clients, Running } from "../../core/window/clients";
import { offerActivityFiles, pictureFile, scriptFile } from "../activityfiles";
import { openFile } from "../openfile";
import { type Look, type Row, RowView, row } from "./tree";

/** A row of an action, or of one of its details, as its commands get it. */
export interface DetailRow extends Row {
  /** The text as the client reported it, before it is made plain for display. */
  value: string;
}

/** A row of an action, as its commands get it. */
export interface ActionRow extends Row {
  /** The id of the client that did it. */
  client: string;
}

/** storage is our folder of the workspace's storage; an empty window has none, and keeps nothing. */
export function openActivityView(
  clients: Clients,
  storage: string | undefined,
  /** Called whenever the user may see an action. */
  onSight: () => void,
  log: Log,
): vscode.Disposable {
  let filterName: string | undefined; // the client whose actions alone are shown, by its name
  const named = remembered((action) => actionRow(action, true));
  const unnamed = remembered((action) => actionRow(action, false));
  const view = new RowView("browserCoordinator.activity", () => {
    const isShown = ({ name }: { name: string }) => filterName === undefined || name === filterName;
    const running = clients.running.filter(isShown).map((call) => runningRow(call, filterName === undefined));
    const done = grouped(clients.actions.filter(isShown)).map((group) => {
      const [newest] = group;
      if (newest && group.length === 1) return filterName === undefined ? named(newest) : unnamed(newest);
      return groupRow(group, filterName === undefined, group.map(unnamed));
    });
    return [...running, ...done];
  });
  const update = () => {
    if (view.view.visible && clients.actions.some(({ kind }) => kind !== "user")) onSight();
    const isListed = [...clients.running, ...clients.actions].some(({ name }) => name === filterName);
    if (!isListed) filterName = undefined;
    view.view.description = filterName === undefined ? "" : actorName(filterName);
    view.update();
  };
  const filter = vscode.commands.registerCommand("browserCoordinator.filterActivity", async () => {
    const picked = await pickActor(clients.actions, filterName);
    if (!picked) return;
    filterName = picked.name;
    update();
  });
  const open = vscode.commands.registerCommand("browserCoordinator.openPlace", (text: string) => {
    const place = placeFrom(text);
    if (place) void openFile(place);
  });
  const disposable = vscode.Disposable.from(
    view,
    filter,
    open,
    offerActivityFiles(clients),
    view.view.onDidChangeVisibility(update),
    {
      dispose: clients.subscribe(update),
    },
  );
  if (storage === undefined) return disposable;
  const path = join(storage, "activity.json");
  const attempt = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error(`the activity of agents could not be ${what}: ${reason(error)}`);
    }
  };
  attempt("read", () => clients.restore(readActions(path)));
  return vscode.Disposable.from(disposable, {
    dispose: () => attempt("kept", () => writeActions(path, clients.actions)),
  });
}

/** Whose actions to show; a name of undefined stands for all. */
async function pickActor(actions: readonly Action[], only: string | undefined): Promise<{ name?: string } | undefined> {
  const item = (label: string, name?: string) => ({
    label: `${name === only ? "$(check)" : "$(blank)"} ${label}`,
    ...(name !== undefined && { name }),
  });
  const items = [item(l10n.t("All agents")), ...actorsOf(actions).map((name) => item(actorName(name), name))];
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

function runningRow(call: Running, named: boolean): Row {
  const id = `running ${call.client} ${call.time} ${call.act}`;
  const { label, description } = runningLine(call, named);
  const details = [
    detail(id, l10n.t("Agent"), call.name),
    detail(id, l10n.t("Action"), call.act),
    detail(id, l10n.t("Target"), call.target),
    ...scriptRow(id, call, call.script),
  ].filter(({ value }) => value !== "");
  return row(label, { id, description, tooltip: listed(details), icon: "loading~spin", context: "running" }, details);
}

function actionRow(action: Action, named: boolean): ActionRow {
  const id = `action ${action.number}`;
  if (action.kind === "user") {
    const { label, description } = actionLine(action, named);
    return { ...row(label, { id, description, tooltip: label, ...markOf(action) }), client: action.client };
  }
  const { url = "", times, details: { effects = [], ...more } = {} as Partial<ActivityDetails> } = action;
  const details = [
    detail(id, l10n.t("Agent"), action.name),
    detail(id, l10n.t("Action"), action.act),
    detail(id, l10n.t("Target"), action.target),
    ...scriptRow(id, action, more.script),
    detail(id, l10n.t("Allowed by"), allowedBy(more) ?? ""),
    detail(id, l10n.t("Outcome"), action.outcome),
    ...effects.map((effect, index) => effectRow(`${id} effect ${index}`, effect)),
    detail(id, l10n.t("Page"), url, { context: isWebUrl(url) ? "activity.url" : "activity.detail" }),
    detail(id, times > 1 ? l10n.t("Last of {0}", times) : l10n.t("Time"), clock(action.time)),
    detail(id, l10n.t("Duration"), more.duration === undefined ? "" : duration(more.duration)),
    ...pictureRow(id, action),
  ].filter(({ value }) => value !== "");
  const { label, description } = actionLine(action, named);
  const context = action.kind === "mcp" ? "activity" : "command";
  const look = { id, description, context, ...markOf(action) };
  const { client } = action;
  const { picture } = more;
  if (picture === undefined) return { ...row(label, { ...look, tooltip: listed(details) }, details), client };
  return { ...row(label, look, details), client, tooltip: () => withPicture(listed(details), picture) };
}

/** Most have none: in a narrow side bar the words need the space. */
function markOf(action: Action): Partial<Look> {
  if (action.kind === "user") return { icon: "account" };
  if (!action.ok) return { icon: "error", color: "testing.iconFailed", spoken: l10n.t("failed") };
  return problemsOf(action) > 0 ? { icon: "warning", color: "list.warningForeground" } : {};
}

function listed(details: readonly Row[]): string {
  return details.map(({ item }) => `${item.label}: ${item.description}`).join("\n");
}

/** The texts are of clients and pages: nothing in them is a link, or other Markdown. */
function withPicture(text: string, picture: string): vscode.MarkdownString {
  const shown = new vscode.MarkdownString();
  shown.appendMarkdown(`![${l10n.t("The page after it")}](data:image/jpeg;base64,${picture})\n\n`);
  return shown.appendCodeblock(text); // other text would have links of addresses
}

function scriptRow(id: string, action: Action | Running, script = ""): DetailRow[] {
  if (script === "") return [];
  const command = { command: "vscode.open", title: l10n.t("Open Script"), arguments: [scriptFile(action)] };
  const look = { command, description: excerpt(script, 200) };
  return [detail(id, l10n.t("Script"), script, look)];
}

function pictureRow(id: string, action: Action): DetailRow[] {
  if (action.details?.picture === undefined) return [];
  const command = { command: "vscode.open", title: l10n.t("Open Picture"), arguments: [pictureFile(action)] };
  return [detail(id, l10n.t("Picture"), l10n.t("The page after it"), { command })];
}

function effectRow(id: string, effect: ActivityEffect): DetailRow {
  const { kind, text, place = "", late = false } = effect;
  const value = place === "" ? text : `${text} @ ${place}`;
  const open = { command: "browserCoordinator.openPlace", title: l10n.t("Open Source"), arguments: [place] };
  const icon = kind === "warning" ? "warning" : "error";
  const color = kind === "warning" ? "list.warningForeground" : "list.errorForeground";
  return detail(id, effectName(effect), value, {
    ...(!late && { icon, color }),
    ...(placeFrom(place) && { command: open }),
  });
}

function detail(action: string, label: string, value: string, look: Partial<Look> = {}): DetailRow {
  const text = plain(value, 2_000);
  const id = `${action} ${label}`;
  return { ...row(label, { id, description: text, tooltip: text, context: "activity.detail", ...look }), value };
}
