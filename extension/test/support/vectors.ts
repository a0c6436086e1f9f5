// Reads the window protocol's vectors, which bind the Go side too.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { State } from "../../src/core/protocol.generated";

const root = fileURLToPath(new URL("../../../specs/window-protocol/", import.meta.url));

export interface IdentityVector {
  name: string;
  path?: string;
  hex?: string;
  canonical?: string;
  hash?: string;
  error?: string;
}

export interface MessageVector {
  name: string;
  kind: "request" | "response" | "event";
  def?: string;
  line: Record<string, unknown>;
}

export type Piece = string | { hex: string } | { repeat: string; count: number };

export interface InvalidVector {
  name: string;
  lines: Piece[];
  expect: { code: string; id: string | number | null; data?: Record<string, unknown>; closes?: boolean };
}

export interface VersionVector {
  name: string;
  state: State;
  exchanges: { line: Record<string, unknown>; answer: Record<string, unknown> }[];
}

export interface CommandVector {
  name: string;
  command: string;
  arg: unknown;
  result: unknown;
}

export function schema(): Record<string, unknown> {
  return read("schema.json");
}

export function identityVectors(system: "linux" | "darwin" | "windows"): IdentityVector[] {
  const vectors = read<IdentityVector[]>(`identity/${system}.json`);
  for (const vector of vectors) onlyKnown(vector, "name", "path", "hex", "canonical", "hash", "error");
  return vectors;
}

export function messageVectors(): (MessageVector & { file: string })[] {
  return folder<MessageVector>("messages", (vector) => onlyKnown(vector, "name", "kind", "def", "line"));
}

export function invalidVectors(): (InvalidVector & { file: string })[] {
  return folder<InvalidVector>("invalid", (vector) => {
    onlyKnown(vector, "name", "lines", "expect");
    onlyKnown(vector.expect, "code", "id", "data", "closes");
    for (const piece of vector.lines) if (typeof piece === "object") onlyKnown(piece, "hex", "repeat", "count");
  });
}

export function versionVectors(): (VersionVector & { file: string })[] {
  return folder<VersionVector>("versions", (vector) => {
    onlyKnown(vector, "name", "state", "exchanges");
    for (const exchange of vector.exchanges) onlyKnown(exchange, "line", "answer");
  });
}

export function commandVectors(): (CommandVector & { file: string })[] {
  return folder<CommandVector>("commands", (vector) => onlyKnown(vector, "name", "command", "arg", "result"));
}

/** Throws on a member that this runner would pass over (section 13). */
export function onlyKnown(vector: object, ...members: string[]): void {
  const unknown = Object.keys(vector).filter((member) => !members.includes(member));
  if (unknown.length > 0) throw new Error(`a vector has members that are not known here: ${unknown.join(", ")}`);
}

/** The bytes of a piece: a string is a line and gets its end, the other two are taken as they are. */
export function bytesOf(piece: Piece): Buffer {
  if (typeof piece === "string") return Buffer.from(`${piece}\n`);
  if ("hex" in piece) return Buffer.from(piece.hex, "hex");
  return Buffer.alloc(piece.count, piece.repeat);
}

function folder<T extends object>(name: string, check: (vector: T) => void): (T & { file: string })[] {
  const files = readdirSync(root + name).filter((file) => file.endsWith(".json"));
  if (files.length === 0) throw new Error(`there are no vectors in ${name}`);
  return files.map((file) => {
    const vector = read<T>(`${name}/${file}`);
    try {
      check(vector);
    } catch (error) {
      throw new Error(`${name}/${file}`, { cause: error });
    }
    return { file, ...vector };
  });
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(root + path, "utf8"));
}
