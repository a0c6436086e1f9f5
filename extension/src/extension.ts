// The companion of one VS Code window. This file only wires: what it does is in core/, which knows
// nothing of the editor, and vscode/, which knows little else.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { pickCommand } from "./core/access/pick";
import { EndedSessions } from "./core/browser/endedsessions";
import { Sessions } from "./core/browser/sessions";
import type { Command } from "./core/window/connection";
import { Store } from "./core/window/store";
import { AgentControls } from "./vscode/agentcontrols";
import { renewCoordinator } from "./vscode/coordinator";
import { pageProxy, watchDebugging } from "./vscode/debug";
import { openDebugger } from "./vscode/debugger";
import { shareEditor } from "./vscode/editorcontext";
import { shareEnvironment } from "./vscode/environment";
import { offerLiveView } from "./vscode/liveview";
import { offerMcpServer } from "./vscode/mcp";
import { askToPick } from "./vscode/pick";
import { offerToPointOut } from "./vscode/pointout";
import { openReviews } from "./vscode/review";
import { offerSetup } from "./vscode/setup";
import { Walkthrough } from "./vscode/walkthrough";
import { Window } from "./vscode/window";

/** What the process had used before the bundle was run (esbuild.mjs). */
declare const loading: NodeJS.CpuUsage;
/** What loading the bundle has used. Other extensions may be started before this one is activated. */
const loaded = process.cpuUsage(loading);

let running: Window | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const activating = process.cpuUsage();
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const log = vscode.window.createOutputChannel("Browser Coordinator", { log: true });
  const store = new Store(log);
  const sessions = new Sessions(store, pageProxy, log);
  const endedSessions = new EndedSessions();
  const debug = openDebugger(context, store, endedSessions);
  const controls = new AgentControls(context, store, sessions, log);
  const walkthrough = new Walkthrough();
  const isHere = (client: string) => controls.isHere(client);
  const review = openReviews(context, isHere, () => walkthrough.done("review"), log);
  const live = offerLiveView(context.extensionUri, store, sessions, controls.notes, controls.agents, log);
  const commands: ReadonlyMap<string, Command> = new Map([
    ...controls.commands,
    ...debug.debugger.commands,
    ["pick.start", pickCommand(askToPick(store, live.pick, log))],
    ...review.reviews.commands,
  ]);
  const { version } = context.extension.packageJSON;
  const window = new Window(version, store, commands, (identity) => controls.restoreAccess(identity), log);
  running = window;

  context.subscriptions.push(
    log,
    { dispose: () => sessions.close() },
    vscode.workspace.onDidChangeWorkspaceFolders(() => void window.refresh()),
    watchDebugging(sessions, endedSessions, context.storageUri?.fsPath, log),
    debug.disposable,
    review.disposable,
    controls.show(context, window, walkthrough),
    walkthrough,
    live,
    offerToPointOut(store, controls.notes),
    shareEditor(store, window),
    offerMcpServer(context, window, log),
    shareEnvironment(context, window),
    offerSetup(context, log),
  );
  void window.refresh();
  void renewCoordinator(context, log);
  const activated = process.cpuUsage(activating);
  const used = [loaded, activated].reduce((sum, { user, system }) => sum + user + system, 0) / 1_000;
  log.info(`activated with ${used.toFixed(1)} ms`); // of the processor, which others do not lengthen
}

/** Has five seconds, without the editor's API. */
export async function deactivate(): Promise<void> {
  await running?.close();
}
