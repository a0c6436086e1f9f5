// The commands, and the menu behind the status bar item.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { modeWords, type StoppableClient, stoppable } from "../core/access/access";
import type { Permissions } from "../core/access/permission";
import { describe } from "../core/access/status";
import type { Sessions } from "../core/browser/sessions";
import { reason } from "../core/log";
import { clientName } from "../core/plaintext";
import type { State } from "../core/protocol/protocol.generated";
import { NoCoordinator } from "../core/setup/program";
import type { Clients } from "../core/window/clients";
import type { Store } from "../core/window/store";
import type { Tests } from "../core/window/tests";
import { offerToFindCoordinator } from "./coordinator";
import { askEndpoint, clientUrl, reportCopied, startServing } from "./endpoint";
import { missing } from "./folders";
import { inform, reportError, warn } from "./notifications";
import type { Walkthrough } from "./walkthrough";
import type { Window } from "./window";

interface Choice extends vscode.QuickPickItem {
  command?: string;
  args?: unknown[];
}

export interface Parts {
  extension: vscode.Uri;
  window: Window;
  store: Store;
  sessions: Sessions;
  clients: Clients;
  permissions: Permissions;
  walkthrough: Walkthrough;
  tests: Tests;
}

export function registerCommands(parts: Parts, log: vscode.LogOutputChannel): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("browserCoordinator.showStatus", () => showStatus(parts)),
    vscode.commands.registerCommand("browserCoordinator.copyEndpoint", () => copyEndpoint(parts)),
    vscode.commands.registerCommand("browserCoordinator.copyAddress", () => copyAddress(parts.window)),
    vscode.commands.registerCommand("browserCoordinator.showLog", () => log.show()),
  );
}

async function showStatus({ window, store, sessions, clients }: Parts): Promise<void> {
  const { serving } = window;
  const words = modeWords(store.state.access.mode);
  const all = stoppable(store, clients);
  const stopAll = { label: `$(stop-circle) ${l10n.t("Stop All Agents")}`, command: "browserCoordinator.stopAllAgents" };
  const resumeAll = {
    label: `$(debug-continue) ${l10n.t("Resume All Agents")}`,
    command: "browserCoordinator.resumeAllAgents",
  };
  const choices: Choice[] = [
    ...takeoverChoices(store.state),
    {
      label: `$(${words.icon}) ${words.label}`,
      detail: l10n.t("Change what agents may do in this window's browser"),
      command: "browserCoordinator.changeAccess",
    },
    {
      label: `$(list-tree) ${l10n.t("Show Browser, Agents and Activity")}`,
      command: "browserCoordinator.agents.focus",
    },
    { label: `$(open-preview) ${l10n.t("Open Live View")}`, command: "browserCoordinator.openLiveView" },
    ...ownBrowserChoices(store.state.browser?.via === "personal"),
    ...all.map(toggle),
    ...(all.filter(({ stopped }) => !stopped).length > 1 ? [stopAll] : []),
    ...(all.filter(({ stopped }) => stopped).length > 1 ? [resumeAll] : []),
    {
      label: `$(copy) ${l10n.t("Copy CDP Endpoint")}`,
      detail: l10n.t("The stable address for Playwright, Puppeteer and other CDP tools"),
      command: "browserCoordinator.copyEndpoint",
    },
    {
      label: `$(copy) ${l10n.t("Copy Window Address")}`,
      detail: serving.kind === "open" ? serving.server.address : l10n.t("This window has none"),
      command: "browserCoordinator.copyAddress",
    },
    {
      label: `$(plug) ${l10n.t("Set Up an Agent...")}`,
      detail: l10n.t("Claude Code, Cursor, Devin Desktop, Gemini CLI, Codex and others"),
      command: "browserCoordinator.setUpAgent",
    },
    { label: `$(book) ${l10n.t("Get Started")}`, command: "browserCoordinator.getStarted" },
    { label: `$(output) ${l10n.t("Show Log")}`, command: "browserCoordinator.showLog" },
  ];
  const problem = serving.kind === "failed" ? serving.problem : undefined;
  const { unreachable } = sessions;
  const facts = { state: store.state, unreachable, clients: clients.connected, problem, missing: missing() };
  const placeHolder = describe(facts).summary;
  const choice = await vscode.window.showQuickPick(choices, { title: "Browser Coordinator", placeHolder });
  if (choice?.command) await vscode.commands.executeCommand(choice.command, ...(choice.args ?? []));
}

function takeoverChoices({ access, browser, pages }: State): Choice[] {
  if (access.takenOver) {
    return [{ label: `$(debug-continue) ${l10n.t("Give Back the Browser")}`, command: "browserCoordinator.giveBack" }];
  }
  if (!browser && pages.length === 0) return [];
  return [{ label: `$(record-keys) ${l10n.t("Take Over the Browser")}`, command: "browserCoordinator.takeOver" }];
}

function ownBrowserChoices(used: boolean): Choice[] {
  if (!used) {
    const detail = l10n.t("Agents work in the browser that you use every day, with your logins");
    return [{ label: `$(account) ${l10n.t("Use My Chrome")}`, detail, command: "browserCoordinator.useOwnBrowser" }];
  }
  return [
    { label: `$(add) ${l10n.t("Hand a Tab to Agents...")}`, command: "browserCoordinator.handOverTab" },
    { label: `$(debug-alt) ${l10n.t("Use the Debug Browser")}`, command: "browserCoordinator.useDebugBrowser" },
  ];
}

/** Stops an agent, or resumes it. */
function toggle({ client, stopped }: StoppableClient): Choice {
  const name = clientName(client);
  const args = [{ client }];
  return stopped
    ? { label: `$(debug-continue) ${l10n.t("Resume {0}", name)}`, command: "browserCoordinator.resumeAgent", args }
    : { label: `$(debug-stop) ${l10n.t("Stop {0}", name)}`, command: "browserCoordinator.stopAgent", args };
}

async function copyEndpoint({ extension, window }: Parts): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open" || serving.workspace === null) {
    void warn(l10n.t("This window has no endpoint: open a folder first."));
    return;
  }
  try {
    const { workspace } = serving;
    const endpoint = await askEndpoint(extension, workspace);
    await vscode.env.clipboard.writeText(clientUrl(endpoint));
    const message = l10n.t("Copied the CDP endpoint, {0}.", endpoint.url); // without its token
    await reportCopied(message, endpoint, () => startServing(extension, workspace));
  } catch (error) {
    if (error instanceof NoCoordinator) await offerToFindCoordinator(error.message);
    else void reportError(l10n.t("The coordinator did not return the endpoint: {0}", reason(error)));
  }
}

async function copyAddress(window: Window): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open") {
    void warn(l10n.t("This window has no address; the log shows why."));
    return;
  }
  await vscode.env.clipboard.writeText(serving.server.address);
  inform(l10n.t("Copied {0}", serving.server.address));
}
