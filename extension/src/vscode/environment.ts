// Identifies this window to the programs that start from it: to terminals by their environment, where the
// coordinator is on PATH too, to MCP servers by that of the extension host.
import { delimiter, dirname } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { findCoordinator, workspaceVariable } from "./coordinator";
import type { Window } from "./window";

export function shareEnvironment(context: vscode.ExtensionContext, window: Window): vscode.Disposable {
  const collection = context.environmentVariableCollection;
  collection.persistent = false; // the next window sets its own
  collection.description = l10n.t("Lets an agent in the terminal find this window's debug browser");
  let current: string | null | undefined; // of the terminals; process.env may come from a terminal of another window
  const update = () => {
    const { serving } = window;
    const enabled = vscode.workspace.getConfiguration("browserCoordinator").get("setEnvironment", true);
    const workspace = enabled && serving.kind === "open" ? serving.workspace : null;
    if (workspace === current) return;
    current = workspace;
    if (workspace === null) {
      collection.clear();
      delete process.env[workspaceVariable];
    } else {
      collection.replace(workspaceVariable, workspace);
      process.env[workspaceVariable] = workspace;
      void addProgram();
    }
  };
  // After what PATH has: the user may have installed another version.
  const addProgram = async () => {
    const program = await findCoordinator(context.extensionUri).catch(() => undefined); // who starts it reports why
    if (!current) return;
    if (program === undefined) collection.delete("PATH");
    else collection.append("PATH", `${delimiter}${dirname(program)}`);
  };
  const settings = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("browserCoordinator.setEnvironment")) update();
    if (event.affectsConfiguration("browserCoordinator.coordinatorPath")) void addProgram();
  });
  return vscode.Disposable.from(window.onDidChange(update), settings, { dispose: () => collection.clear() });
}
