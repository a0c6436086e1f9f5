// Reads the window protocol's vectors, which bind the Go side too.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../specs/window-protocol/", import.meta.url));

export interface IdentityVector {
  system: string;
  name: string;
  path?: string;
  hex?: string;
  canonical?: string;
  hash?: string;
  error?: string;
}

export interface MessageVector {
  name: string;
  description: string;
  kind: "request" | "response" | "event";
  def?: string;
  line: Record<string, unknown>;
}

export type Piece = string | { hex: string } | { repeat: string; count: number };

export interface InvalidVector {
  name: string;
  description: string;
  lines: Piece[];
  expect: { code: string; id: string | number | null; data?: Record<string, unknown>; closes?: boolean };
}

export interface CommandVector {
  name: string;
  description: string;
  command: string;
  arg: unknown;
  result: unknown;
}

export function schema(): Record<string, unknown> {
  return JSON.parse(text("schema.json"));
}

export function identityVectors(system: "linux" | "darwin" | "windows"): IdentityVector[] {
  const vectors = read<IdentityVector>("identity", (vector) =>
    onlyKnown(vector, "system", "name", "path", "hex", "canonical", "hash", "error"),
  );
  return vectors.filter((vector) => vector.system === system);
}

export function messageVectors(): MessageVector[] {
  return read("messages", (vector) => onlyKnown(vector, ...common, "kind", "def", "line"));
}

export function invalidVectors(): InvalidVector[] {
  return read<InvalidVector>("invalid", (vector) => {
    onlyKnown(vector, ...common, "lines", "expect");
    onlyKnown(vector.expect, "code", "id", "data", "closes");
    for (const piece of vector.lines) if (typeof piece === "object") onlyKnown(piece, "hex", "repeat", "count");
  });
}

export function commandVectors(): CommandVector[] {
  return read("commands", (vector) => onlyKnown(vector, ...common, "command", "arg", "result"));
}

const common = ["name", "description"];

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

/** Reads the vectors of one kind, one a line. Throws if there are none (an empty line is no JSON), or two of a name. */
function read<T extends { name: string; system?: string }>(kind: string, check: (vector: T) => void): T[] {
  const file = `vectors/${kind}.jsonl`;
  const names = new Set<string>();
  return text(file)
    .replace(/\n$/, "")
    .split("\n")
    .map((line, i) => {
      try {
        const vector: T = JSON.parse(line);
        check(vector);
        const name = `${vector.system}/${vector.name}`;
        if (!vector.name || names.has(name)) throw new Error(`the name "${vector.name}" is empty or taken`);
        names.add(name);
        return vector;
      } catch (error) {
        throw new Error(`${file}:${i + 1}`, { cause: error });
      }
    });
}

function text(path: string): string {
  return readFileSync(root + path, "utf8");
}
