// What the user sees of agents and decides about them: views, questions, commands.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { accessCommands, isStopped } from "../core/access/access";
import { askedNodes, waitingText } from "../core/access/actions";
import { Permissions, permissionCommands } from "../core/access/permission";
import { Recordings } from "../core/access/record";
import { UserActs } from "../core/access/useracts";
import type { Identity } from "../core/address/address";
import { Pages } from "../core/browser/pages";
import type { Sessions } from "../core/browser/sessions";
import type { Agents } from "../core/liveview/liveview";
import { Clients, clientCommands } from "../core/window/clients";
import type { Command } from "../core/window/connection";
import { Notes, noteCommands } from "../core/window/notes";
import type { Store } from "../core/window/store";
import { Tests, testCommands } from "../core/window/tests";
import { WindowAccess } from "./access";
import { registerAgentCommands } from "./agentCommands";
import { registerCommands } from "./commands";
import { notify } from "./notice";
import { OwnBrowserControl } from "./ownbrowser";
import { showQuestions } from "./question";
import { showStatus } from "./status";
import { openActivityView } from "./views/activity";
import { openAgentsView } from "./views/agents";
import { openBrowserView } from "./views/browser";
import type { Walkthrough } from "./walkthrough";
import type { Window } from "./window";

export class AgentControls {
  readonly #store: Store;
  readonly #sessions: Sessions;
  readonly #clients = new Clients();
  readonly #userActs: UserActs;
  /** What the user writes to agents. */
  readonly notes: Notes;
  readonly #tests: Tests;
  readonly #permissions: Permissions;
  readonly #recordings: Recordings;
  readonly #access: WindowAccess;
  readonly #ownBrowser: OwnBrowserControl;
  readonly #log: vscode.LogOutputChannel;

  constructor(context: vscode.ExtensionContext, store: Store, sessions: Sessions, log: vscode.LogOutputChannel) {
    this.#store = store;
    this.#sessions = sessions;
    this.#log = log;
    this.#access = new WindowAccess(context, store, log);
    this.#userActs = new UserActs(store, this.#clients);
    this.notes = new Notes(store, this.#clients);
    this.#tests = new Tests(store);
    this.#permissions = new Permissions(store, this.#clients, timeLimit);
    this.#recordings = new Recordings(store, (text, signal) => notify(text, l10n.t("End Recording"), signal));
    const [permissions, clients] = [this.#permissions, this.#clients];
    const parts = { extension: context.extensionUri, store, sessions, permissions, clients };
    this.#ownBrowser = new OwnBrowserControl(parts, log);
  }

  /** What the live view shows of agents. */
  get agents(): Agents {
    const [clients, permissions] = [this.#clients, this.#permissions];
    return {
      get lastPage() {
        return clients.lastPage;
      },
      get asked() {
        return askedNodes(permissions.question?.actions ?? []);
      },
      get waiting() {
        return waitingText(clients.running);
      },
      subscribe: (listener) => {
        const ends = [clients, permissions].map((each) => each.subscribe(listener));
        return () => {
          for (const end of ends) end();
        };
      },
    };
  }

  /** What coordinators may call. */
  get commands(): [string, Command][] {
    return [
      ...clientCommands(this.#clients, () => this.#store.state.browser?.via === "personal"),
      ...permissionCommands(this.#permissions, this.#recordings),
      ["record.show", this.#recordings.command],
      ...accessCommands(this.#store),
      ...noteCommands(this.notes),
      ...testCommands(this.#tests),
      ...this.#ownBrowser.commands,
    ];
  }

  /** Whether a client of this id is connected. */
  isHere(client: string): boolean {
    return this.#clients.connected.some(({ id }) => id === client);
  }

  /** Applies what the user has chosen in the workspace's windows; called before this one is served. */
  restoreAccess(identity: Identity): void {
    this.#userActs.pause();
    this.#access.restore(identity);
    this.#userActs.resume();
  }

  /** Shows everything in a window. */
  show(context: vscode.ExtensionContext, window: Window, walkthrough: Walkthrough): vscode.Disposable {
    const log = this.#log;
    const store = this.#store;
    const clients = this.#clients;
    const permissions = this.#permissions;
    const { extensionUri: extension } = context;
    const pages = new Pages(store, log);
    const parts = {
      extension,
      window,
      store,
      sessions: this.#sessions,
      clients,
      permissions,
      walkthrough,
      tests: this.#tests,
    };
    return vscode.Disposable.from(
      this.#ownBrowser.register(), // ends first, so that the mode that it has changed is kept as it was
      this.#access.watch(),
      keepContexts(store, this.#sessions, clients, walkthrough),
      showStatus(window, store, this.#sessions, clients, permissions),
      showQuestions(permissions),
      openBrowserView({ ...parts, pages }),
      openAgentsView({ ...parts, pages }),
      openActivityView(clients, context.storageUri?.fsPath, () => walkthrough.done("watch"), log),
      registerCommands(parts, log),
      registerAgentCommands(parts),
      { dispose: () => this.#userActs.pause() },
      { dispose: () => pages.close() },
      { dispose: () => permissions.close() },
      { dispose: () => this.notes.close() },
    );
  }
}

/** The timeout of a question, in milliseconds. */
function timeLimit(): number {
  const seconds = vscode.workspace.getConfiguration().get("browserCoordinator.permissionTimeout");
  // The editor only warns of a value that makes no sense.
  return (typeof seconds === "number" ? Math.min(Math.max(seconds, 5), 3_600) : 60) * 1_000;
}

/** The contexts that menus and welcome views depend on. */
function keepContexts(store: Store, sessions: Sessions, clients: Clients, walkthrough: Walkthrough): vscode.Disposable {
  const reported = new Map<string, unknown>();
  const update = () => {
    const { browser, pages, debugSessions, access } = store.state;
    const hasBrowser = browser !== null || pages.length > 0;
    const hasAgent = clients.connected.length > 0;
    if (hasBrowser) walkthrough.done("debug");
    if (hasAgent) walkthrough.done("connect");
    for (const [key, value] of [
      ["browserCoordinator.hasSession", debugSessions.length > 0],
      ["browserCoordinator.unreachable", sessions.unreachable],
      ["browserCoordinator.hasBrowser", hasBrowser],
      ["browserCoordinator.hasPort", browser !== null],
      ["browserCoordinator.hasAgent", hasAgent],
      ["browserCoordinator.hasGoing", clients.connected.some((client) => !isStopped(store, client))],
      ["browserCoordinator.hasStopped", access.stopped.length > 0],
      ["browserCoordinator.takenOver", access.takenOver === true],
      ["browserCoordinator.hasActivity", clients.actions.length > 0],
    ] as const) {
      if (reported.get(key) === value) continue;
      reported.set(key, value);
      void vscode.commands.executeCommand("setContext", key, value);
    }
  };
  update();
  const stop = [store, sessions, clients].map((part) => part.subscribe(update));
  return { dispose: () => stop.map((unsubscribe) => unsubscribe()) };
}
