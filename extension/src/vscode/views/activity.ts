// The view "Activity": what agents did lately, the newest first. Opened, an act shows its details.
import * as vscode from "vscode";
import { doneText } from "../../core/access/actions";
import { isWebUrl, nameOf, plain } from "../../core/plaintext";
import type { Act, Clients } from "../../core/window/clients";
import { type Row, RowView, row } from "./tree";

/** A row of an act, or of one of its details, as its commands get it. */
export interface DetailRow extends Row {
  /** As it was told, which is not how it is shown. */
  value: string;
}

export function openActivityView(clients: Clients): vscode.Disposable {
  const rows = new WeakMap<Act, Row>(); // an act does not change
  const rowOf = (act: Act) => {
    const known = rows.get(act) ?? actRow(act);
    rows.set(act, known);
    return known;
  };
  const view = new RowView("browserCoordinator.activity", () => clients.acts.map(rowOf).reverse());
  return vscode.Disposable.from(view, { dispose: clients.subscribe(view.update) });
}

function actRow(act: Act): Row {
  const id = `act ${act.number}`;
  const { url = "", times } = act;
  const often = times > 1 ? `${times}× ` : "";
  const time = new Date(act.time).toLocaleTimeString(undefined, { hourCycle: "h23" }); // the shorter one
  const details = [
    detail(id, "Client", act.name),
    detail(id, "Act", act.act),
    detail(id, "Target", act.target),
    detail(id, "Outcome", act.outcome),
    detail(id, "Page", url, isWebUrl(url) ? "activity.url" : "activity.detail"),
    detail(id, times > 1 ? `Last of ${times}` : "Time", new Date(act.time).toLocaleString()),
  ].filter(({ value }) => value !== "");
  const look = {
    id,
    icon: act.ok ? "pass" : "error",
    color: act.ok ? "testing.iconPassed" : "testing.iconFailed",
    description: [plain(act.outcome, 80), nameOf(act.name, 40)].filter((part) => part !== "").join(" · "),
    tooltip: details.map(({ item }) => `${item.label}: ${item.description}`).join("\n"),
    says: act.ok ? "" : "failed",
    context: "activity",
  };
  return row(`${time} ${often}${plain(doneText(act), 120)}`, look, details);
}

function detail(act: string, label: string, value: string, context = "activity.detail"): DetailRow {
  const shown = plain(value, 2_000);
  return { ...row(label, { id: `${act} ${label}`, description: shown, tooltip: shown, context }), value };
}
