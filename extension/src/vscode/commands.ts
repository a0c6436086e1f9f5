// The commands, and the menu behind the status bar item.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { reason } from "../core/log";
import type { Store } from "../core/store";
import { findCoordinator } from "./coordinator";
import { describe } from "./status";
import type { Window } from "./window";

const run = promisify(execFile);
const runLimit = 5_000;

interface Choice extends vscode.QuickPickItem {
  command?: string;
}

export function registerCommands(
  extension: vscode.Uri,
  window: Window,
  store: Store,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("browserCoordinator.showStatus", () => showStatus(window, store)),
    vscode.commands.registerCommand("browserCoordinator.copyEndpoint", () => copyEndpoint(extension, window)),
    vscode.commands.registerCommand("browserCoordinator.copyAddress", () => copyAddress(window)),
    vscode.commands.registerCommand("browserCoordinator.showLog", () => log.show()),
  );
}

async function showStatus(window: Window, store: Store): Promise<void> {
  const { serving } = window;
  const choices: Choice[] = [
    {
      label: "$(copy) Copy CDP Endpoint",
      detail: "The stable address for Playwright, Puppeteer and other CDP tools",
      command: "browserCoordinator.copyEndpoint",
    },
    {
      label: "$(copy) Copy Window Address",
      detail: serving.kind === "open" ? serving.server.address : "This window has none",
      command: "browserCoordinator.copyAddress",
    },
    { label: "$(output) Show Log", command: "browserCoordinator.showLog" },
  ];
  const placeHolder = describe(serving, store.state).tooltip;
  const choice = await vscode.window.showQuickPick(choices, { title: "Browser Coordinator", placeHolder });
  if (choice?.command) await vscode.commands.executeCommand(choice.command);
}

async function copyEndpoint(extension: vscode.Uri, window: Window): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open" || serving.workspace === null) {
    void vscode.window.showWarningMessage("This window has no endpoint: open a folder first.");
    return;
  }
  const program = await findCoordinator(extension);
  if (!program) {
    const settings = "Open Settings";
    const picked = await vscode.window.showErrorMessage(
      "The coordinator is not on PATH. Install it, or say where it is in the settings.",
      settings,
    );
    if (picked)
      await vscode.commands.executeCommand("workbench.action.openSettings", "browserCoordinator.coordinatorPath");
    return;
  }
  try {
    const args = ["endpoint", "--workspace", serving.workspace];
    const { stdout } = await run(program, args, { timeout: runLimit, windowsHide: true });
    await vscode.env.clipboard.writeText(stdout.trim());
    void vscode.window.showInformationMessage(`Copied ${stdout.trim()}`);
  } catch (error) {
    void vscode.window.showErrorMessage(`The coordinator did not tell the endpoint: ${reason(error)}`);
  }
}

async function copyAddress(window: Window): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open") {
    void vscode.window.showWarningMessage("This window has no address; the log says why.");
    return;
  }
  await vscode.env.clipboard.writeText(serving.server.address);
  void vscode.window.showInformationMessage(`Copied ${serving.server.address}`);
}
