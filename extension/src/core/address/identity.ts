// A window's identity: the canonical path of its workspace, and its hash.
// Obeys specs/window-protocol/README.md section 1; its vectors bind this file and the Go side.
import { realpath } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { xxhash3 } from "hash-wasm";
import { nameOnDisk } from "../files/diskcase";

export type PathFault = "empty" | "not_utf8" | "nul" | "not_absolute" | "device";

/** A path that has no canonical form. */
export class PathError extends Error {
  constructor(readonly fault: PathFault) {
    super(`the path has no canonical form: ${fault}`);
  }
}

// As bytes: a name that is not UTF-8 would otherwise come back with replacement characters.
function realpathBytes(path: string): Promise<Uint8Array> {
  return new Promise((done, fail) => {
    realpath.native(path, "buffer", (error, resolved) => (error ? fail(error) : done(resolved)));
  });
}

/** Step 1 and 2: the canonical path of something that exists. */
export async function canonical(path: string): Promise<string> {
  if (path === "") throw new PathError("empty");
  const real = spell(await realpathBytes(isAbsolute(path) ? path : resolve(path)), process.platform);
  // Windows' realpath returns the names as they are on disk.
  return process.platform === "win32" ? real : spell(await nameOnDisk(real), process.platform);
}

/** Step 2 alone: by the operating system, without reading the file system. */
export function spell(path: string | Uint8Array, platform: NodeJS.Platform): string {
  const text = typeof path === "string" ? path : decode(path);
  if (text === "") throw new PathError("empty");
  if (!text.isWellFormed()) throw new PathError("not_utf8");
  if (text.includes("\0")) throw new PathError("nul");
  if (platform === "win32") return spellWindows(text);
  if (!text.startsWith("/")) throw new PathError("not_absolute");
  const plain = `/${elements(text.split("/")).join("/")}`;
  return platform === "darwin" ? plain.normalize("NFC") : plain;
}

/** XXH3-64, seed 0, of the canonical path: 16 lower-case hexadecimal digits. */
export async function hashOf(canonicalPath: string): Promise<string> {
  return xxhash3(canonicalPath);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new PathError("not_utf8");
  }
}

function elements(parts: string[]): string[] {
  const out: string[] = [];
  for (const part of parts) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return out;
}

function spellWindows(text: string): string {
  let path = text.replaceAll("/", "\\");
  if (path.startsWith("\\\\?\\")) {
    const rest = path.slice(4);
    if (/^unc\\/i.test(rest)) path = `\\\\${rest.slice(4)}`;
    else if (/^[a-z]:/i.test(rest)) path = rest;
    else throw new PathError("device");
  }
  if (/^\\\\[.?](\\|$)/.test(path)) throw new PathError("device");
  if (/^[a-z]:\\/i.test(path)) {
    return `${path.slice(0, 1).toLowerCase()}:\\${elements(path.slice(3).split("\\")).join("\\")}`;
  }
  const share = /^\\\\([^\\]+)\\([^\\]+)/.exec(path);
  if (!share) throw new PathError("not_absolute");
  const rest = elements(path.slice(share[0].length).split("\\"));
  return `${lowerASCII(share[0])}\\${rest.join("\\")}`;
}

function lowerASCII(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
