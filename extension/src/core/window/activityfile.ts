// What agents did, kept in a file over a reload of the window. It is written once, when the window goes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { code } from "../log";
import { Argument } from "../protocol/argument";
import { type Action, actionsLimit, actors, readActivity } from "./clients";

/** The actions in a file; none where there is no file. Throws where it holds something else. */
export function readActions(path: string): Action[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (code(error) === "ENOENT") return [];
    throw error;
  }
  const list = Argument.parse({ actions: JSON.parse(text) }).objects("actions");
  return list.slice(-actionsLimit).map((each) => ({
    ...readActivity(each),
    number: each.whole("number", 1),
    run: each.whole("run", 1),
    times: each.whole("times", 1),
    name: each.text("name", 0),
    kind: each.choice("kind", actors),
  }));
}

/**
 * Pages and targets are the user's alone to read. Scripts, what pages and servers reported, and pictures of the user's
 * own browser are in no file.
 */
export function writeActions(path: string, actions: readonly Action[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify(actions.map(stored)), { mode: 0o600 });
}

function stored({ details, personal, ...action }: Action): Action {
  if (!details) return action;
  const { duration, reason, covers, picture } = details;
  const kept = { duration, ...(reason && { reason }), ...(covers && { covers }) };
  return { ...action, details: { ...kept, ...(picture && !personal && { picture }) } };
}
