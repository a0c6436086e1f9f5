// Where the programs that host agents keep their MCP servers, and how the coordinator is entered there.
import * as l10n from "@vscode/l10n";
import { type Entry, entryName } from "./entry";
import { inJson } from "./entryjson";
import { inToml } from "./entrytoml";

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
  /** What to do when it is written; asked for when it is shown, since the translations come later than this file. */
  next: () => string;
}

export const hosts: readonly Host[] = [
  {
    id: "claude-code",
    label: "Claude Code",
    place: "folder",
    file: ".mcp.json",
    member: "mcpServers",
    format: "json",
    next: () => l10n.t("Start Claude Code in this folder; it asks once whether to use the server."),
  },
  {
    id: "cursor",
    label: "Cursor",
    place: "folder",
    file: ".cursor/mcp.json",
    member: "mcpServers",
    format: "json",
    next: () => l10n.t("Turn the server on in Cursor's settings, under MCP."),
  },
  {
    id: "windsurf",
    label: "Windsurf",
    place: "home",
    file: ".codeium/windsurf/mcp_config.json",
    member: "mcpServers",
    format: "json",
    next: () => l10n.t("Refresh the MCP servers in Windsurf."),
  },
  {
    id: "gemini",
    label: "Gemini CLI",
    place: "folder",
    file: ".gemini/settings.json",
    member: "mcpServers",
    format: "json",
    next: () => l10n.t("Start Gemini CLI in this folder; /mcp lists the server."),
  },
  {
    id: "codex",
    label: "Codex CLI",
    place: "home",
    file: ".codex/config.toml",
    member: "mcp_servers",
    format: "toml",
    next: () => l10n.t("Start Codex in this folder."),
  },
  {
    id: "vscode",
    label: "VS Code",
    place: "folder",
    file: ".vscode/mcp.json",
    member: "servers",
    format: "json",
    next: () => l10n.t("This window offers the server to its own agents already; the file is for the others."),
  },
];

const byteOrderMark = "\ufeff";

/** The file's text with the entry in it. Throws Unreadable where that cannot be made without harm. */
export function withEntry({ format, member }: Host, text: string, entry: Entry): string {
  const enter = format === "json" ? inJson : inToml;
  if (!text.startsWith(byteOrderMark)) return enter(member, text, entry);
  return byteOrderMark + enter(member, text.slice(1), entry);
}

/** The entry alone, to paste: as a host's file has it, or as most do. */
export function toPaste(entry: Entry, host?: Host): string {
  return host ? withEntry(host, "", entry) : `${JSON.stringify({ mcpServers: { [entryName]: entry } }, null, 2)}\n`;
}
