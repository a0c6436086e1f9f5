// Reads a request off a parsed line, and its payload, with the answer that each fault deserves.
// Obeys specs/window-protocol/README.md sections 4 to 6.
import type { CallRequest, CancelRequest, ErrorCode, HelloRequest, Id, ListenRequest } from "./protocol.generated";

/** The version of the window protocol (spec 9.2). */
export const protocolVersion = 2;
const requestTypes = ["hello", "ping", "state", "listen", "call", "cancel"] as const;
export type RequestType = (typeof requestTypes)[number];

/** A refusal that goes to the client as an error. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly data?: Record<string, unknown>,
  ) {
    super(message);
  }
}

export type Members = Record<string, unknown>;

/** An own member: what an object inherits is not in the message. */
export function member(of: Members, name: string): unknown {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function isId(value: unknown): value is Id {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0;
  if (typeof value !== "string" || !value.isWellFormed()) return false;
  // Code points, as JSON Schema counts them.
  return value.length > 0 && value.length <= 128 && [...value].length <= 64;
}

export function readId(message: Members): Id {
  const id = member(message, "id");
  if (!isId(id)) {
    throw new Refusal(
      "malformed",
      "id must be a string of 1 to 64 characters, without half of a surrogate pair, or an integer from 0 to 2^53-1",
    );
  }
  return id;
}

/** The type of a request of this version. */
export function readType(message: Members): RequestType {
  const type = member(message, "type");
  if (typeof type !== "string" || type === "")
    throw new Refusal("malformed", "type must be a string that is not empty");
  const version = member(message, "version");
  if (!isWhole(version, 1)) throw new Refusal("malformed", "version must be an integer from 1");
  if (version !== protocolVersion) throw unsupported(version);
  const requestType = requestTypes.find((name) => name === type);
  if (!requestType)
    throw new Refusal("unknown_type", `no request is called ${quote(type)}`, { types: [...requestTypes] });
  return requestType;
}

/** The payload; where it is left out, an empty one if the type allows that. */
export function readPayload(message: Members, type: RequestType): Members {
  const payload = member(message, "payload");
  if (payload === undefined && (type === "ping" || type === "state")) return {};
  return readObject(payload, "/payload");
}

export function readHello(payload: Members): HelloRequest {
  const client = readObject(member(payload, "client"), "/payload/client");
  const name = readText(member(client, "name"), "/payload/client/name", 1);
  const version = readText(member(client, "version"), "/payload/client/version", 0);
  return { client: { name, version } };
}

export function readListen(payload: Members, offered: readonly string[]): ListenRequest {
  const events = readList(member(payload, "events"), "/payload/events", (item, path) => readText(item, path, 0));
  for (const event of events) {
    if (!offered.includes(event)) {
      throw new Refusal("unknown_event", `no event is called ${quote(event)}`, { offered: [...offered] });
    }
  }
  return { events };
}

export function readCall(payload: Members): CallRequest {
  return { command: readText(member(payload, "command"), "/payload/command", 1), arg: member(payload, "arg") };
}

export function readCancel(payload: Members): CancelRequest {
  const id = member(payload, "id");
  if (!isId(id)) throw bad("/payload/id", "must be a request's id");
  return { id };
}

export function readObject(value: unknown, path: string): Members {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw bad(path, "must be an object");
  return value as Members;
}

export function readText(value: unknown, path: string, shortest: number): string {
  if (typeof value !== "string") throw bad(path, "must be a string");
  if (value.length < shortest) throw bad(path, "must not be empty");
  return value;
}

export function readWhole(value: unknown, path: string, least: number): number {
  if (!isWhole(value, least)) throw bad(path, `must be an integer from ${least}`);
  return value;
}

export function readList<T>(value: unknown, path: string, item: (value: unknown, path: string) => T): [T, ...T[]] {
  if (!Array.isArray(value)) throw bad(path, "must be a list");
  const [first, ...rest] = value.map((each, index) => item(each, `${path}/${index}`));
  if (first === undefined) throw bad(path, "must not be empty");
  return [first, ...rest];
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isInteger(value) && (value as number) >= least;
}

export function bad(path: string, what: string): Refusal {
  return new Refusal("bad_payload", `${path} ${what}`, { path });
}

function unsupported(version: number): Refusal {
  const older = version < protocolVersion ? "client" : "window";
  return new Refusal(
    "unsupported_version",
    `incompatible: the window speaks version ${protocolVersion} of the window protocol and the request ` +
      `version ${version}; update the ${older}`,
    { supported: [protocolVersion] },
  );
}

function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
