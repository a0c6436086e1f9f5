// The editor's debug sessions: adds the port before a launch, and reports to the core what starts and ends.
import * as vscode from "vscode";
import { decidePort, portSetting, withDecision } from "../core/browser/debuggingport";
import { removeStalePortFile } from "../core/browser/discovery";
import type { EndedSessions } from "../core/browser/endedsessions";
import { browserTypes, inject, isBrowserType, isLaunched } from "../core/browser/injection";
import { profileOf, unlock } from "../core/browser/profilelock";
import type { SessionInfo, Sessions } from "../core/browser/sessions";
import { otherUsers } from "../core/browser/systemusers";
import { keepTracePrivate } from "../core/browser/tracefile";
import { type Log, reason } from "../core/log";

/** storage is our folder of the workspace's storage. */
export function watchDebugging(
  sessions: Sessions,
  endedSessions: EndedSessions,
  storage: string | undefined,
  log: Log,
): vscode.Disposable {
  // '*' providers run last, when js-debug has resolved the type and the profile's folder.
  const provider = vscode.debug.registerDebugConfigurationProvider("*", {
    // Before js-debug looks for the profile's lock, which it does with the variables substituted.
    resolveDebugConfiguration: (folder, configuration) => prepare(folder, configuration, storage, log),
    resolveDebugConfigurationWithSubstitutedVariables: (folder, configuration) => resolve(folder, configuration, log),
  });
  const followed = followSessions(endedSessions, {
    started: (session) => sessions.started(info(session)),
    ended: ({ id }) => sessions.ended(id),
  });
  const trackers = browserTypes.map((type) =>
    vscode.debug.registerDebugAdapterTrackerFactory(type, {
      createDebugAdapterTracker: ({ id }) => ({ onDidSendMessage: () => sessions.adapterActive(id) }),
    }),
  );
  return vscode.Disposable.from(provider, followed, ...trackers);
}

/** Reports the sessions that start and end, and those that started before; a running one perhaps more than once. */
export function followSessions(
  endedSessions: EndedSessions,
  listener: { started(session: vscode.DebugSession): void; ended(session: vscode.DebugSession): void },
): vscode.Disposable {
  const follow = (session: vscode.DebugSession | undefined) => {
    if (session && !endedSessions.has(info(session))) listener.started(session);
  };
  const started = vscode.debug.onDidStartDebugSession((session) => {
    endedSessions.started(session.id);
    follow(session);
  });
  const ended = vscode.debug.onDidTerminateDebugSession((session) => {
    endedSessions.ended(session.id);
    listener.ended(session);
  });
  const active = vscode.debug.onDidChangeActiveDebugSession(follow);
  follow(vscode.debug.activeDebugSession);
  return vscode.Disposable.from(started, ended, active);
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
  if (isBrowserType(configuration.type)) {
    await keepTracePrivate(configuration).catch((error) =>
      log.warn(`other users may be able to read the debugger's trace of "${configuration.name}": ${reason(error)}`),
    );
  }
  const injection = inject(configuration, vscode.workspace.isTrusted);
  if ("skipped" in injection) {
    const launches = isLaunched(configuration) && !("__pendingTargetId" in configuration); // else it is a page
    log[launches ? "info" : "debug"](`no port for "${configuration.name}": ${injection.skipped}`);
    return configuration;
  }
  const settings = vscode.workspace.getConfiguration("browserCoordinator", folder);
  const setting = portSetting(settings.inspect("addDebuggingPort") ?? {});
  const decision = await decidePort(setting, otherUsers);
  if (!decision.added) {
    log.info(`no port for "${configuration.name}": ${decision.why}`);
    return withDecision(configuration, decision) as vscode.DebugConfiguration;
  }
  try {
    await removeStalePortFile(injection.userDataDir);
  } catch (error) {
    log.warn(`what an earlier browser left in ${injection.userDataDir} stays: ${reason(error)}`);
  }
  log.info(`a port for "${configuration.name}": ${decision.why}`);
  return withDecision(injection.configuration, decision) as vscode.DebugConfiguration;
}

export function info(session: vscode.DebugSession): SessionInfo {
  const { id, type, configuration, parentSession } = session;
  return {
    id,
    get name() {
      return session.name; // js-debug names a page once it exists
    },
    type,
    configuration,
    parent: parentSession && info(parentSession),
  };
}
