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
  return read(`identity/${system}.json`);
}

export function messageVectors(): (MessageVector & { file: string })[] {
  return folder("messages");
}

export function invalidVectors(): (InvalidVector & { file: string })[] {
  return folder("invalid");
}

export function versionVectors(): (VersionVector & { file: string })[] {
  return folder("versions");
}

export function commandVectors(): (CommandVector & { file: string })[] {
  return folder("commands");
}

/** The bytes of a piece: a string is a line and gets its end, the other two are taken as they are. */
export function bytesOf(piece: Piece): Buffer {
  if (typeof piece === "string") return Buffer.from(`${piece}\n`);
  if ("hex" in piece) return Buffer.from(piece.hex, "hex");
  return Buffer.alloc(piece.count, piece.repeat);
}

function folder<T>(name: string): (T & { file: string })[] {
  const files = readdirSync(root + name).filter((file) => file.endsWith(".json"));
  return files.map((file) => ({ file, ...read<T>(`${name}/${file}`) }));
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(root + path, "utf8"));
}
