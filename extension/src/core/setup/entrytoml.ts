// Enters the coordinator into a TOML file. The library knows nothing of comments when it writes, so the text is
// edited by its statements, and parsed again: it must hold what it held before, and the entry.

import { isDeepStrictEqual } from "node:util";
import * as l10n from "@vscode/l10n";
import { parse, TomlError } from "smol-toml";
import { type Entry, enter, entryName, missing, oldEntry, type Table, Unreadable } from "./entry";

/** The text with the entry in it; everything else stays as it is, comments too. */
export function inToml(member: string, text: string, entry: Entry): string {
  const file = read(text);
  const old = oldEntry(file, member);
  const changes = old ? missing(old, entry) : entry;
  if (Object.keys(changes).length === 0) return text;
  const after = edited(text, `[${member}.${entryName}]`, changes);
  enter(file, member, changes);
  // An inline table, for instance, cannot be added to from elsewhere.
  if (!isDeepStrictEqual(parsed(after), file))
    throw new Unreadable(l10n.t("its {0} are written in a form that cannot be added to line by line", member));
  return after;
}

function read(text: string): Table {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new Unreadable(l10n.t("it is not valid TOML (line {0})", error.line));
  }
}

function parsed(text: string): Table | undefined {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function edited(text: string, header: string, changes: Partial<Entry>): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(changes).map(([name, value]) => [name, `${name} = ${literal(value)}`] as const);
  const all = statements(text);
  const at = all.findIndex((each) => isHeader(each) && isDeepStrictEqual(read(each), read(header)));
  if (at < 0) {
    const kept = text.trimEnd();
    return [...(kept === "" ? [] : [kept, ""]), header, ...lines.map(([, line]) => line), ""].join(end);
  }
  const next = all.findIndex((each, place) => place > at && isHeader(each));
  const body = all.splice(at, next < 0 ? all.length : next - at);
  const added: string[] = [];
  for (const [name, line] of lines) {
    const place = body.findIndex((each) => Object.hasOwn(read(each), name));
    const there = body[place];
    if (there === undefined) added.push(line + end);
    else body[place] = line + tail(there);
  }
  if (added.length > 0) body[0] = `${body[0]?.trimEnd()}${end}`;
  all.splice(at, 0, ...body.slice(0, 1), ...added, ...body.slice(1));
  return all.join("");
}

/** The text in parts that can be read alone: one line each, more for a string or an array of several lines. */
function statements(text: string): string[] {
  const all: string[] = [];
  let open = "";
  for (const line of text.split(/(?<=\n)/)) {
    open += line;
    if (!parsed(open)) continue;
    all.push(open);
    open = "";
  }
  return all;
}

function isHeader(statement: string): boolean {
  return /^[ \t]*\[/.test(statement);
}

/** A statement's comment and the end of its line. */
function tail(statement: string): string {
  const ends = [...statement.matchAll(/\s*#|\s*$/g)].map(({ index }) => index);
  const end = ends.find((index) => parsed(statement.slice(0, index)));
  return statement.slice(end);
}

function literal(value: string | string[]): string {
  return Array.isArray(value) ? `[${value.map(literal).join(", ")}]` : JSON.stringify(value);
}
