// Whether a file by which an editor starts MCP servers has the coordinator.
import { readFile } from "node:fs/promises";
import { parse } from "jsonc-parser";

/** Whether the file has an entry of the coordinator below that member. What cannot be read starts nothing. */
export async function hasEntry(file: string, member: string): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  const servers: unknown = parse(text.replace(/^\ufeff/, ""), [], { allowTrailingComma: true })?.[member];
  const entry = (servers as Record<string, unknown> | null | undefined)?.["browser-coordinator"];
  return typeof entry === "object" && entry !== null;
}
