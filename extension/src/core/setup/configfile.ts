// Changes a file of another program, only while it is as the user has seen it.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as l10n from "@vscode/l10n";
import { code } from "../log";

/** The file's text; undefined where there is none. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return decode(await readFile(file));
  } catch (error) {
    if (code(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes the file, through a link where it is one, if it is still what it was before. */
export async function writeText(file: string, before: string | undefined, after: string): Promise<void> {
  if ((await readText(file)) !== before) throw new Error(l10n.t("it has changed meanwhile"));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, after);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); // ignoring it leaves it there
  } catch {
    throw new Error(l10n.t("it is not UTF-8")); // what cannot be read would be lost when it is written
  }
}
