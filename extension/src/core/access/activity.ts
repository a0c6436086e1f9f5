// The actions of agents as the user reads them: the newest first, a CDP client's commands in groups.

import * as l10n from "@vscode/l10n";
import { nameOf, plain } from "../plaintext";
import type { Action } from "../window/clients";
import { actionText, placeOf } from "./actions";
import type { Grant } from "./permission";

/** Consecutive commands of one CDP client are one group, any other action is its own group. The newest is first. */
export function grouped(actions: readonly Action[]): Action[][] {
  const groups: Action[][] = [];
  for (const action of [...actions].reverse()) {
    const group = groups.at(-1);
    if (action.kind === "cdp" && group?.[0]?.run === action.run) group.push(action);
    else groups.push([action]);
  }
  return groups;
}

interface Line {
  label: string;
  /** What the user reads after that: repeats, failures, who it was, when. */
  description: string;
}

/** `Click button "Order"`, `Claude Code · 10:02:14`. The name is left out where all lines are of one client. */
export function actionLine(action: Action, named: boolean): Line {
  const text = plain(actionText(action), 120);
  const parts = [
    action.times > 1 ? `${action.times}×` : "",
    action.ok ? "" : plain(action.outcome, 80),
    named ? nameOf(action.name, 40) : "",
    clock(action.time),
  ];
  return { label: text.charAt(0).toUpperCase() + text.slice(1), description: joined(parts) };
}

/** `37 commands`, `2 failed · Playwright · 10:02:14` */
export function groupLine(group: readonly Action[], named: boolean): Line {
  const count = (of: readonly Action[]) => of.reduce((sum, { times }) => sum + times, 0);
  const failed = count(group.filter(({ ok }) => !ok));
  const [newest] = group;
  const parts = [
    failed > 0 ? l10n.t("{0} failed", failed) : "",
    named ? nameOf(newest?.name ?? "", 40) : "",
    clock(newest?.time ?? 0),
  ];
  return { label: l10n.t("{0} commands", count(group)), description: joined(parts) };
}

/** `on every page · allowed on “Shop” (127.0.0.1:5173), 10:02:14` */
export function grantText({ action, time }: Pick<Grant, "action" | "time">): string {
  const place = placeOf(action).trim();
  const when = place === "" ? clock(time) : `${place}, ${clock(time)}`;
  return joined([l10n.t("on every page"), l10n.t("allowed {0}", when)]);
}

/** The names of those who did something, the latest first. */
export function actorsOf(actions: readonly Action[]): string[] {
  return [...new Set([...actions].reverse().map(({ name }) => name))];
}

/** 10:02:14 by this machine's clock, with the date where that is not today's. */
export function clock(time: number, now = Date.now()): string {
  const written = (of: number) => new Date(of).toLocaleString("sv-SE").split(" "); // that is ISO 8601
  const [day, hours = ""] = written(time);
  return day === written(now)[0] ? hours : `${day} ${hours}`;
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}
