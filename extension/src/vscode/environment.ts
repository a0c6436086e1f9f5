// Identifies this window to the programs in its terminals, where the coordinator is on PATH too.
import { delimiter, dirname } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { findCoordinator, workspaceVariable } from "./coordinator";
import { isEnabled } from "./settings";
import type { Window } from "./window";

export function shareEnvironment(context: vscode.ExtensionContext, window: Window): vscode.Disposable {
  const collection = context.environmentVariableCollection;
  collection.persistent = false; // the next window sets its own
  collection.description = l10n.t("Lets an agent in the terminal find this window's debug browser");
  // The editor may have been started in another window's terminal: MCP servers inherit this, and would join that.
  delete process.env[workspaceVariable];
  let current: string | null | undefined;
  const update = () => {
    const { serving } = window;
    const workspace = isEnabled("setEnvironment") && serving.kind === "open" ? serving.workspace : null;
    if (workspace === current) return;
    current = workspace;
    if (workspace === null) collection.clear();
    else {
      collection.replace(workspaceVariable, workspace);
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
