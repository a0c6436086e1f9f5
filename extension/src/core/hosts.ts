// Where the programs that host agents keep their MCP servers, and how the coordinator is entered there.
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";

/** What an entry says. */
export interface Entry {
  command: string;
  args: string[];
}

export interface Host {
  id: string;
  label: string;
  /** In the workspace's folder, or in the home directory. */
  place: "folder" | "home";
  /** The path of its file there. */
  file: string;
  /** The member that holds the servers; a TOML table of that name for Codex. */
  member: string;
  format: "json" | "toml";
  /** What to do when it is written. */
  next: string;
}

export const entryName = "browser-coordinator";

export const hosts: readonly Host[] = [
  {
    id: "claude-code",
    label: "Claude Code",
    place: "folder",
    file: ".mcp.json",
    member: "mcpServers",
    format: "json",
    next: "Start Claude Code in this folder; it asks once whether to use the server.",
  },
  {
    id: "cursor",
    label: "Cursor",
    place: "folder",
    file: ".cursor/mcp.json",
    member: "mcpServers",
    format: "json",
    next: "Turn the server on in Cursor's settings, under MCP.",
  },
  {
    id: "windsurf",
    label: "Windsurf",
    place: "home",
    file: ".codeium/windsurf/mcp_config.json",
    member: "mcpServers",
    format: "json",
    next: "Refresh the MCP servers in Windsurf.",
  },
  {
    id: "gemini",
    label: "Gemini CLI",
    place: "folder",
    file: ".gemini/settings.json",
    member: "mcpServers",
    format: "json",
    next: "Start Gemini CLI in this folder; /mcp lists the server.",
  },
  {
    id: "codex",
    label: "Codex CLI",
    place: "home",
    file: ".codex/config.toml",
    member: "mcp_servers",
    format: "toml",
    next: "Start Codex in this folder.",
  },
  {
    id: "vscode",
    label: "VS Code (for everybody who opens this folder)",
    place: "folder",
    file: ".vscode/mcp.json",
    member: "servers",
    format: "json",
    next: "This window offers the server to its own agents already; the file is for the others.",
  },
];

/** The file is there, but not what it should be: nobody overwrites it. */
export class Unreadable extends Error {}

/** The file's text with the entry in it; everything else stays as it is, comments too. */
export function withEntry(host: Host, text: string, entry: Entry): string {
  return host.format === "json" ? inJson(host, text, entry) : inToml(host, text, entry);
}

function inJson(host: Host, text: string, entry: Entry): string {
  const before = text.trim() === "" ? "{}\n" : text;
  const errors: ParseError[] = [];
  const value: unknown = parse(before, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error)
    throw new Unreadable(
      `${host.file} is not valid JSON (${printParseErrorCode(error.error)}, line ${lineAt(before, error.offset)})`,
    );
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Unreadable(`${host.file} does not hold an object`);
  const indent = /^([ \t]+)\S/m.exec(before)?.[1] ?? "  ";
  const formattingOptions = { insertSpaces: !indent.includes("\t"), tabSize: indent.length, insertFinalNewline: true };
  return applyEdits(before, modify(before, [host.member, entryName], entry, { formattingOptions }));
}

/** Adds the table, or replaces the one that is there up to the next. */
function inToml(host: Host, text: string, { command, args }: Entry): string {
  const header = `[${host.member}.${entryName}]`;
  const table = `${header}\ncommand = ${JSON.stringify(command)}\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]\n`;
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.trim() === header);
  if (at < 0) return text.trim() === "" ? table : `${text.trimEnd()}\n\n${table}`;
  const rest = lines.slice(at + 1);
  const next = rest.findIndex((line) => line.trimStart().startsWith("["));
  const after = next < 0 ? [] : ["", ...rest.slice(next)];
  return `${[...lines.slice(0, at), ...table.trimEnd().split("\n"), ...after].join("\n").trimEnd()}\n`;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** The entry for anything else, as JSON to paste. */
export function toPaste(entry: Entry): string {
  return `${JSON.stringify({ mcpServers: { [entryName]: entry } }, null, 2)}\n`;
}
