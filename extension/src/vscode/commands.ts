// The commands, and the menu behind the status bar item.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { modeLabels, type StoppableClient, stoppable } from "../core/access/access";
import { describe } from "../core/access/status";
import { reason } from "../core/log";
import { clientName } from "../core/plaintext";
import { NoCoordinator } from "../core/setup/program";
import type { Clients } from "../core/window/clients";
import type { Store } from "../core/window/store";
import { offerToFindCoordinator } from "./coordinator";
import { askEndpoint, clientUrl, reportCopied, startServing } from "./endpoint";
import type { Window } from "./window";

interface Choice extends vscode.QuickPickItem {
  command?: string;
  args?: unknown[];
}

export interface Parts {
  extension: vscode.Uri;
  window: Window;
  store: Store;
  clients: Clients;
}

export function registerCommands(parts: Parts, log: vscode.LogOutputChannel): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("browserCoordinator.showStatus", () => showStatus(parts)),
    vscode.commands.registerCommand("browserCoordinator.copyEndpoint", () => copyEndpoint(parts)),
    vscode.commands.registerCommand("browserCoordinator.copyAddress", () => copyAddress(parts.window)),
    vscode.commands.registerCommand("browserCoordinator.showLog", () => log.show()),
  );
}

async function showStatus({ window, store, clients }: Parts): Promise<void> {
  const { serving } = window;
  const { access } = store.state;
  const all = stoppable(store, clients);
  const stopAll = { label: `$(stop-circle) ${l10n.t("Stop All Agents")}`, command: "browserCoordinator.stopAllAgents" };
  const resumeAll = {
    label: `$(debug-continue) ${l10n.t("Resume All Agents")}`,
    command: "browserCoordinator.resumeAllAgents",
  };
  const choices: Choice[] = [
    {
      label: `$(${modeLabels[access.mode].icon}) ${modeLabels[access.mode].label}`,
      detail: "Change what agents may do in this window's browser",
      command: "browserCoordinator.changeAccess",
    },
    { label: "$(list-tree) Show Browser, Agents and Activity", command: "browserCoordinator.agents.focus" },
    { label: "$(open-preview) Open Live View", command: "browserCoordinator.openLiveView" },
    ...all.map(toggle),
    ...(all.filter(({ stopped }) => !stopped).length > 1 ? [stopAll] : []),
    ...(all.filter(({ stopped }) => stopped).length > 1 ? [resumeAll] : []),
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
    {
      label: "$(plug) Set Up an Agent...",
      detail: "Claude Code, Cursor, Windsurf, Gemini CLI, Codex and others",
      command: "browserCoordinator.setUpAgent",
    },
    { label: "$(book) Get Started", command: "browserCoordinator.getStarted" },
    { label: "$(output) Show Log", command: "browserCoordinator.showLog" },
  ];
  const problem = serving.kind === "failed" ? serving.problem : undefined;
  const placeHolder = describe({ state: store.state, clients: clients.connected, problem }).summary;
  const choice = await vscode.window.showQuickPick(choices, { title: "Browser Coordinator", placeHolder });
  if (choice?.command) await vscode.commands.executeCommand(choice.command, ...(choice.args ?? []));
}

/** Stops an agent, or resumes it. */
function toggle({ client, stopped }: StoppableClient): Choice {
  const name = clientName(client);
  const args = [{ client }];
  return stopped
    ? { label: `$(debug-continue) Resume ${name}`, command: "browserCoordinator.resumeAgent", args }
    : { label: `$(debug-stop) Stop ${name}`, command: "browserCoordinator.stopAgent", args };
}

async function copyEndpoint({ extension, window }: Parts): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open" || serving.workspace === null) {
    void vscode.window.showWarningMessage("This window has no endpoint: open a folder first.");
    return;
  }
  try {
    const { workspace } = serving;
    const endpoint = await askEndpoint(extension, workspace);
    await vscode.env.clipboard.writeText(clientUrl(endpoint));
    const message = `Copied the CDP endpoint, ${endpoint.url}.`; // without its token
    await reportCopied(message, endpoint, () => startServing(extension, workspace));
  } catch (error) {
    if (error instanceof NoCoordinator) await offerToFindCoordinator(error.message);
    else void vscode.window.showErrorMessage(`The coordinator did not return the endpoint: ${reason(error)}`);
  }
}

async function copyAddress(window: Window): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open") {
    void vscode.window.showWarningMessage("This window has no address; the log shows why.");
    return;
  }
  await vscode.env.clipboard.writeText(serving.server.address);
  void vscode.window.showInformationMessage(`Copied ${serving.server.address}`);
}
