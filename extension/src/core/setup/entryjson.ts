// Enters the coordinator into a JSON file, with or without comments.

import { isDeepStrictEqual } from "node:util";
import * as l10n from "@vscode/l10n";
import { applyEdits, modify, type ParseError, parse, printParseErrorCode, stripComments } from "jsonc-parser";
import { type Entry, enter, entryName, isTable, missing, oldEntry, type Table, Unreadable } from "./entry";

/** The text with the entry in it; everything else stays as it is, comments too. */
export function inJson(member: string, text: string, entry: Entry): string {
  const blank = stripComments(text).trim() === "";
  let after = blank ? `${text.trim() === "" ? "" : `${text.trimEnd()}\n`}{}\n` : text;
  const file = read(after);
  const old = oldEntry(file, member);
  const changes = old ? missing(old, entry) : entry;
  const indent = /^([ \t]+)\S/m.exec(after)?.[1] ?? "  ";
  const formattingOptions = { insertSpaces: !indent.includes("\t"), tabSize: indent.length, insertFinalNewline: true };
  const put = (path: string[], value: unknown) => {
    after = applyEdits(after, modify(after, [member, entryName, ...path], value, { formattingOptions }));
  };
  if (old) for (const [name, value] of Object.entries(changes)) put([name], value);
  else put([], entry);
  enter(file, member, changes);
  // A name that is there twice, for instance: the first one is edited, the last one counts.
  if (!isDeepStrictEqual(read(after), file))
    throw new Unreadable(l10n.t("it cannot be added to without changing its other contents"));
  return after;
}

/** Whether the text has an entry of the coordinator. What cannot be read has none. */
export function hasEntry(member: string, text: string): boolean {
  try {
    return oldEntry(read(text.replace(/^\ufeff/, "")), member) !== undefined;
  } catch {
    return false;
  }
}

function read(text: string): Table {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new Unreadable(l10n.t("it is not valid JSON ({0}, line {1})", printParseErrorCode(error.error), line));
  }
  if (!isTable(value)) throw new Unreadable(l10n.t("it does not hold an object"));
  return value;
}
