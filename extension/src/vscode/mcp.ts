// Offers the coordinator as an MCP server to the editor's own agents, pinned to this window.
import { dirname } from "node:path";
import * as vscode from "vscode";
import { type Log, reason } from "../core/log";
import { findCoordinator, workspaceVariable } from "./coordinator";
import type { Window } from "./window";

/** What decides whether it is offered, and which program. */
const settings = ["browserCoordinator.registerMcpServer", "browserCoordinator.coordinatorPath"];

export function offerMcpServer(context: vscode.ExtensionContext, window: Window, log: Log): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  let offered = "";
  const moved = window.onDidChange((serving) => {
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
      if (!vscode.workspace.getConfiguration("browserCoordinator").get("registerMcpServer", true)) return [];
      if (serving.kind !== "open" || serving.workspace === null) return [];
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
  return vscode.Disposable.from(changed, moved, configured, provider);
}

async function find(extension: vscode.Uri, log: Log): Promise<string | undefined> {
  try {
    return await findCoordinator(extension);
  } catch (error) {
    log.warn(`the coordinator is not offered as an MCP server: ${reason(error)}`);
    return undefined;
  }
}
