// The view "Activity": what agents did lately, the newest first. Opened, an act shows its details.
import * as vscode from "vscode";
import type { Act, Clients } from "../../core/clients";
import { plain } from "../../core/words";
import { type Row, RowView, row } from "./tree";

/** A row of an act, or of one of its details, as its commands get it. */
export interface DetailRow extends Row {
  text: string;
}

export function openActivityView(clients: Clients): vscode.Disposable {
  const view = new RowView("browserCoordinator.activity", () => clients.acts.map(actRow).reverse());
  return vscode.Disposable.from(view, { dispose: clients.subscribe(view.update) });
}

function actRow(act: Act): Row {
  const time = new Date(act.time).toLocaleTimeString();
  const details = [
    detail("Client", act.name),
    detail("Act", act.act),
    detail("Target", act.target),
    detail("Outcome", act.outcome),
    detail("Page", act.url ?? "", "activity.url"),
    detail("Time", new Date(act.time).toLocaleString()),
  ].filter(({ text }) => text !== "");
  const look = {
    id: `act ${act.number}`,
    icon: act.ok ? "pass" : "error",
    color: act.ok ? "testing.iconPassed" : "testing.iconFailed",
    description: [plain(act.outcome, 80), plain(act.name, 40), time].filter((part) => part !== "").join(" · "),
    tooltip: details.map(({ item, text }) => `${item.label}: ${text}`).join("\n"),
    context: "activity",
  };
  return row(plain(`${act.act} ${act.target}`, 120), look, details);
}

function detail(label: string, value: string, context = "activity.detail"): DetailRow {
  const text = plain(value, 2_000);
  return { ...row(label, { description: text, tooltip: text, context }), text };
}
