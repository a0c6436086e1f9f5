// The coordinator's entry in the file of a program that hosts agents.
import * as l10n from "@vscode/l10n";

/** The contents of an entry. */
export interface Entry {
  command: string;
  args: string[];
}

export const entryName = "browser-coordinator";

/** The file exists but has another form: it is not overwritten. */
export class Unreadable extends Error {}

/** A table of JSON or TOML. */
export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members that the old entry lacks. The user's own arguments after ours stay, as does all else. */
export function missing(old: Table, { command, args }: Entry): Partial<Entry> {
  const given = old.args;
  const kept = Array.isArray(given) && args.every((arg, at) => given[at] === arg);
  return { ...(old.command !== command && { command }), ...(!kept && { args }) };
}

/** The entry that is there among a file's servers. Throws where one of them is no table. */
export function oldEntry(file: Table, member: string): Table | undefined {
  const servers = file[member];
  if (servers === undefined) return undefined;
  if (!isTable(servers)) throw new Unreadable(l10n.t("its {0} is not a table of servers", member));
  const old = servers[entryName];
  if (old === undefined || isTable(old)) return old;
  throw new Unreadable(l10n.t("its {0}.{1} is not a server", member, entryName));
}

/** Puts what a file is to hold afterwards into what it holds. */
export function enter(file: Table, member: string, changes: Partial<Entry>): void {
  const empty = (): Table => Object.create(Object.getPrototypeOf(file)); // the readers differ in theirs
  file[member] ??= empty();
  const servers = file[member] as Table;
  servers[entryName] ??= empty();
  Object.assign(servers[entryName] as Table, changes);
}
