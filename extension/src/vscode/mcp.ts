// Offers the coordinator as an MCP server to the editor's own agents, pinned to this window: unless the editor
// starts it from a file anyway. Its agents would have each tool twice.
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { type Log, reason } from "../core/log";
import { hasEntry } from "../core/setup/entered";
import { findCoordinator, workspaceVariable } from "./coordinator";
import { folders } from "./folders";
import { isEnabled } from "./settings";
import type { Window } from "./window";

/** An editor that has this setting, whatever its value, starts the servers of Claude Code's .mcp.json too. */
const rootSetting = "chat.mcp.workspaceRootConfig.enabled";
/** What decides whether it is offered, and which program. */
const settings = ["browserCoordinator.registerMcpServer", "browserCoordinator.coordinatorPath"];

export function offerMcpServer(context: vscode.ExtensionContext, window: Window, log: Log): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  let offered = "";
  const workspaceListener = window.onDidChange((serving) => {
    const workspace = serving.kind === "open" ? (serving.workspace ?? "") : "";
    if (workspace === offered) return;
    offered = workspace;
    changed.fire();
  });
  const configured = vscode.workspace.onDidChangeConfiguration((event) => {
    if (settings.some((setting) => event.affectsConfiguration(setting))) changed.fire();
  });
  const provider = vscode.lm.registerMcpServerDefinitionProvider("browserCoordinator.mcp", {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: async () => {
      const { serving } = window;
      if (!isEnabled("registerMcpServer")) return [];
      if (serving.kind !== "open" || serving.workspace === null) return [];
      const file = await fileWithEntry(context.globalStorageUri);
      if (file) {
        log.info(`not offered as an MCP server, since the editor has it from ${file}`);
        return [];
      }
      const program = await find(context.extensionUri, log);
      if (!program) return [];
      const env = { [workspaceVariable]: serving.workspace };
      const version: string = context.extension.packageJSON.version;
      const definition = new vscode.McpStdioServerDefinition("Browser Coordinator", program, ["mcp"], env, version);
      // Otherwise the server would start in the home directory.
      const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
      definition.cwd = folder?.scheme === "file" ? folder : vscode.Uri.file(dirname(serving.workspace));
      return [definition];
    },
  });
  const files = vscode.workspace.createFileSystemWatcher("**/{.vscode/mcp,.mcp}.json");
  for (const event of [files.onDidCreate, files.onDidChange, files.onDidDelete]) event(() => changed.fire());
  return vscode.Disposable.from(changed, workspaceListener, configured, provider, files);
}

/** The file by which the editor itself starts the coordinator. */
async function fileWithEntry(storage: vscode.Uri): Promise<string | undefined> {
  const root = vscode.workspace.getConfiguration().inspect(rootSetting)?.defaultValue !== undefined;
  const files = folders().flatMap((folder): [string, string][] => [
    [join(folder, ".vscode", "mcp.json"), "servers"],
    ...(root ? ([[join(folder, ".mcp.json"), "mcpServers"]] as [string, string][]) : []),
  ]);
  files.push([join(storage.fsPath, "..", "..", "mcp.json"), "servers"]); // the user's own
  for (const [file, member] of files) {
    if (await hasEntry(file, member)) return file;
  }
  return undefined;
}

async function find(extension: vscode.Uri, log: Log): Promise<string | undefined> {
  try {
    return await findCoordinator(extension);
  } catch (error) {
    log.warn(`the coordinator is not offered as an MCP server: ${reason(error)}`);
    return undefined;
  }
}
