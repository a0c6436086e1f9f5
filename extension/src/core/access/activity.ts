// The actions of agents as the user reads them: the newest first, a CDP client's commands in groups.

import * as l10n from "@vscode/l10n";
import { excerpt, nameOf, plain } from "../plaintext";
import type { ActivityDetails, ActivityEffect } from "../protocol/protocol.generated";
import type { Action, Running } from "../window/clients";
import { actionText, placeOf } from "./actions";
import { coverName, type Grant } from "./permission";

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

/** How many failed requests, errors and warnings followed an action. */
export function problemsOf({ details }: Action): number {
  return details?.effects?.filter(({ late }) => !late).length ?? 0;
}

/** The name of an actor, which the user's entries have none of. */
export function actorName(name: string): string {
  return name === "" ? l10n.t("You") : nameOf(name, 40);
}

/** `Click button "Order"`, `Claude Code · 10:02:14`. The name is left out where all lines are of one client. */
export function actionLine(action: Action, named: boolean): Line {
  const problems = problemsOf(action);
  if (action.kind === "user") {
    return { label: plain(action.act, 120), description: joined([named ? actorName("") : "", clock(action.time)]) };
  }
  const { label, kind } = labelOf(action, action.details?.script);
  const parts = [
    kind,
    action.times > 1 ? `${action.times}×` : "",
    action.ok ? "" : plain(action.outcome, 80),
    problems === 0 ? "" : problems === 1 ? l10n.t("1 problem") : l10n.t("{0} problems", problems),
    named ? actorName(action.name) : "",
    clock(action.time),
  ];
  return { label, description: joined(parts) };
}

/** `document.title`, `Evaluate · running · Claude Code · since 10:02:14` */
export function runningLine(call: Running, named: boolean): Line {
  const { label, kind } = labelOf(call, call.script);
  const parts = [kind, l10n.t("running"), named ? actorName(call.name) : "", l10n.t("since {0}", clock(call.time))];
  return { label, description: joined(parts) };
}

/** A script says more than what runs it, which follows then. */
function labelOf(action: { act: string; target: string }, script = ""): { label: string; kind: string } {
  const text = plain(actionText(action), 120);
  const named = text.charAt(0).toUpperCase() + text.slice(1);
  return script === "" ? { label: named, kind: "" } : { label: excerpt(script, 120), kind: named };
}

/** Who allowed an action, or undefined where that is not known. */
export function allowedBy({ reason, covers = "" }: Pick<ActivityDetails, "reason" | "covers">): string | undefined {
  switch (reason) {
    case "human":
      return l10n.t("You, when you were asked");
    case "grant":
      return l10n.t("Your permission for its session: {0}", coverName(covers));
    case "mode":
      return l10n.t("The mode: agents can do everything");
    case "reads":
      return l10n.t("Every mode: it only reads");
    default:
      return undefined;
  }
}

/** What an effect is. */
export function effectName({ kind, late = false }: ActivityEffect): string {
  switch (kind) {
    case "request":
      return late ? l10n.t("Failed request, before this action") : l10n.t("Failed request");
    case "error":
      return late ? l10n.t("Error, before this action") : l10n.t("Error");
    case "warning":
      return late ? l10n.t("Warning, before this action") : l10n.t("Warning");
    default:
      return plain(kind, 40);
  }
}

/** A file's place, as a coordinator writes it: file:line or file:line:column. */
export function placeFrom(text: string): { file: string; line: number; column: number } | undefined {
  const [, file = "", line, column = "1"] = /^(.+?):(\d+)(?::(\d+))?$/.exec(text) ?? [];
  if (file === "" || /^[a-z][\w+.-]+:/i.test(file)) return undefined; // a URL; a drive has one letter
  return { file, line: Number(line), column: Number(column) };
}

/** `0.3 s`, `2 min 5 s` */
export function duration(milliseconds: number): string {
  if (milliseconds < 10_000) return l10n.t("{0} s", (milliseconds / 1_000).toFixed(milliseconds < 1_000 ? 2 : 1));
  const seconds = Math.round(milliseconds / 1_000);
  return seconds < 60 ? l10n.t("{0} s", seconds) : l10n.t("{0} min {1} s", Math.floor(seconds / 60), seconds % 60);
}

/** `37 commands`, `2 failed · Playwright · 10:02:14` */
export function groupLine(group: readonly Action[], named: boolean): Line {
  const count = (of: readonly Action[]) => of.reduce((sum, { times }) => sum + times, 0);
  const failed = count(group.filter(({ ok }) => !ok));
  const [newest] = group;
  const parts = [
    failed > 0 ? l10n.t("{0} failed", failed) : "",
    named ? actorName(newest?.name ?? "") : "",
    clock(newest?.time ?? 0),
  ];
  return { label: l10n.t("{0} commands", count(group)), description: joined(parts) };
}

/** `on http://127.0.0.1:5173 · allowed on “Shop” (127.0.0.1:5173), 10:02:14` */
export function grantText({ action, origin, time }: Pick<Grant, "action" | "origin" | "time">): string {
  const place = placeOf(action).trim();
  const moment = place === "" ? clock(time) : `${place}, ${clock(time)}`;
  return joined([
    origin === undefined ? l10n.t("on every page") : l10n.t("on {0}", plain(origin, 300)),
    l10n.t("allowed {0}", moment),
  ]);
}

/** The names of those who did something, the latest first. */
export function actorsOf(actions: readonly Action[]): string[] {
  return [...new Set([...actions].reverse().map(({ name }) => name))];
}

/** 10:02:14 by this machine's clock, with the date where that is not today's. */
export function clock(time: number, now = Date.now()): string {
  const isoParts = (of: number) => new Date(of).toLocaleString("sv-SE").split(" "); // that is ISO 8601
  const [day, hours = ""] = isoParts(time);
  return day === isoParts(now)[0] ? hours : `${day} ${hours}`;
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}
