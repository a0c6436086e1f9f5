// What a debug adapter reports of a paused thread, in the form and within the limits of the window
// protocol's debug commands.
import { stripVTControlCharacters } from "node:util";
import type { Scope, StackFrame, Variable } from "../protocol/protocol.generated";

/** Asks a session's debug adapter. */
export type Ask = (command: string, args: Record<string, unknown>) => PromiseLike<unknown>;

/** The file that a source is, from the path or URI that the editor gives it; undefined where it is none. */
export type ToFile = (source: string) => string | undefined;

export const frameLimit = 20;
const variableLimit = 50;
const valueLimit = 1_000;

type Members = Record<string, unknown>;

/** The frames of a thread, from the top. */
export async function readFrames(ask: Ask, toFile: ToFile, thread: number, levels: number): Promise<StackFrame[]> {
  const answer = members(await ask("stackTrace", { threadId: thread, startFrame: 0, levels }));
  return list(answer.stackFrames)
    .slice(0, levels)
    .map((raw) => frame(raw, toFile));
}

function frame(raw: Members, toFile: ToFile): StackFrame {
  const source = members(raw.source);
  const { path, name } = source;
  const place: Pick<StackFrame, "path" | "url"> = {};
  // A source with a reference is the adapter's own text: there is no file to open.
  const file = typeof path === "string" && !source.sourceReference ? toFile(path) : undefined;
  if (file !== undefined) place.path = file;
  else if (typeof path === "string" && path !== "") place.url = path;
  else if (typeof name === "string" && name !== "") place.url = name;
  const { line, column } = raw;
  return {
    id: Number(raw.id),
    name: String(raw.name ?? ""),
    ...place,
    ...(isPlace(line) && { line }),
    ...(isPlace(line) && isPlace(column) && { column }),
  };
}

/** The scopes of a frame. One that is costly to list, such as the global one, comes without variables. */
export async function readScopes(ask: Ask, frameId: number): Promise<Scope[]> {
  const answer = members(await ask("scopes", { frameId }));
  return Promise.all(
    list(answer.scopes).map(async ({ name, variablesReference, expensive }) => {
      const read = expensive !== true && Number(variablesReference) > 0;
      return { name: String(name ?? ""), variables: read ? await variables(ask, Number(variablesReference)) : [] };
    }),
  );
}

async function variables(ask: Ask, variablesReference: number): Promise<Variable[]> {
  const found = list(members(await ask("variables", { variablesReference })).variables);
  const shown = found.slice(0, variableLimit).map(({ name, value, type }) => ({
    name: String(name ?? ""),
    value: shorten(String(value ?? "")),
    ...(typeof type === "string" && type !== "" && { type }),
  }));
  const more = found.length - shown.length;
  return more > 0 ? [...shown, { name: "…", value: `${more} more` }] : shown;
}

/** A value within the limit, without the colours that the editor asks for. */
export function shorten(value: string): string {
  const plain = stripVTControlCharacters(value);
  return plain.length > valueLimit ? `${plain.slice(0, valueLimit)}…` : plain;
}

export function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function list(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(members) : [];
}

function isPlace(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}
