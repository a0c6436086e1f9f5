// The editor's debug sessions: adds the port before a launch, and tells the core what starts and ends.
import * as vscode from "vscode";
import { forget } from "../core/discovery";
import { browserTypes, inject } from "../core/injection";
import { type Log, reason } from "../core/log";
import { profileOf, unlock } from "../core/profilelock";
import type { SessionInfo, Sessions } from "../core/sessions";

/** storage is our folder of the workspace's storage. */
export function watchDebugging(sessions: Sessions, storage: string | undefined, log: Log): vscode.Disposable {
  // '*' providers run last, when js-debug has resolved the type and the profile's folder.
  const provider = vscode.debug.registerDebugConfigurationProvider("*", {
    // Before js-debug looks for the profile's lock, which it does with the variables substituted.
    resolveDebugConfiguration: (folder, configuration) => prepare(folder, configuration, storage, log),
    resolveDebugConfigurationWithSubstitutedVariables: (folder, configuration) => resolve(folder, configuration, log),
  });
  const started = vscode.debug.onDidStartDebugSession((session) => sessions.started(info(session)));
  const ended = vscode.debug.onDidTerminateDebugSession((session) => sessions.ended(session.id));
  // The editor cannot list its sessions: this is how one that began before us comes to light.
  const active = vscode.debug.onDidChangeActiveDebugSession((session) => session && sessions.started(info(session)));
  if (vscode.debug.activeDebugSession) sessions.started(info(vscode.debug.activeDebugSession));
  const trackers = browserTypes.map((type) =>
    vscode.debug.registerDebugAdapterTrackerFactory(type, {
      createDebugAdapterTracker: ({ id }) => ({ onDidSendMessage: () => sessions.said(id) }),
    }),
  );
  return vscode.Disposable.from(provider, started, ended, active, ...trackers);
}

/** js-debug's shared CDP of a child session. */
export function pageProxy(sessionId: string): PromiseLike<unknown> {
  return vscode.commands.executeCommand("extension.js-debug.requestCDPProxy", sessionId);
}

async function prepare(
  folder: vscode.WorkspaceFolder | undefined,
  configuration: vscode.DebugConfiguration,
  storage: string | undefined,
  log: Log,
): Promise<vscode.DebugConfiguration> {
  const profile = vscode.workspace.isTrusted ? profileOf(configuration, folder?.uri.fsPath, storage) : undefined;
  if (profile === undefined) return configuration;
  try {
    if (await unlock(profile)) log.info(`removed the lock that a browser which is gone left in ${profile}`);
  } catch (error) {
    log.warn(`the lock that a browser left in ${profile} stays: ${reason(error)}`);
  }
  return configuration;
}

async function resolve(
  folder: vscode.WorkspaceFolder | undefined,
  configuration: vscode.DebugConfiguration,
  log: Log,
): Promise<vscode.DebugConfiguration> {
  const settings = vscode.workspace.getConfiguration("browserCoordinator", folder);
  const injection = inject(configuration, {
    enabled: settings.get("addDebuggingPort", true),
    trusted: vscode.workspace.isTrusted,
  });
  if ("skipped" in injection) {
    log.debug(`no port for "${configuration.name}": ${injection.skipped}`);
    return configuration;
  }
  try {
    await forget(injection.userDataDir);
  } catch (error) {
    log.warn(`what an earlier browser left in ${injection.userDataDir} stays: ${reason(error)}`);
  }
  log.info(`a port for "${configuration.name}"`);
  return injection.configuration as vscode.DebugConfiguration;
}

export function info(session: vscode.DebugSession): SessionInfo {
  const { id, type, configuration, parentSession } = session;
  return {
    id,
    get name() {
      return session.name; // js-debug names a page once it is there
    },
    type,
    configuration,
    parent: parentSession && info(parentSession),
  };
}
