// The editor's API, played for tests without an editor: it shows nothing, and counts what was made and is not
// disposed of. It stands in for the module "vscode" (vitest.config.ts); the real one is in e2e.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Disposes {
  dispose(): void;
}

/** What was made and is not disposed of yet. */
const held = new Set<{ what: string }>();

/** What was made and is not disposed of yet, by the names of what made it. */
export function open(): string[] {
  return [...held].map(({ what }) => what).sort();
}

function made<T extends object>(what: string, members: T, ended = () => {}): T & Disposes {
  const entry = { what };
  held.add(entry);
  const dispose = () => {
    if (held.delete(entry)) ended();
  };
  return Object.assign(members, { dispose });
}

export class Disposable implements Disposes {
  constructor(readonly dispose: () => void) {}

  static from(...all: Disposes[]): Disposable {
    return new Disposable(() => {
      for (const each of all) each.dispose();
    });
  }
}

export class EventEmitter<T> implements Disposes {
  readonly #listeners = new Map<(event: T) => unknown, Disposes>();
  readonly dispose: () => void;

  constructor() {
    const end = () => {
      for (const subscription of [...this.#listeners.values()]) subscription.dispose();
    };
    this.dispose = made("an event emitter", {}, end).dispose;
  }

  readonly event = (listener: (event: T) => unknown): Disposes => {
    const subscription = made("a listener", {}, () => void this.#listeners.delete(listener));
    this.#listeners.set(listener, subscription);
    return subscription;
  };

  fire(event: T): void {
    for (const listener of [...this.#listeners.keys()]) listener(event);
  }
}

/** An event of the editor, which the test has happen. */
function happening<T>() {
  const listeners = new Set<(event: T) => unknown>();
  return {
    on: (listener: (event: T) => unknown) => {
      listeners.add(listener);
      return made("a listener", {}, () => void listeners.delete(listener));
    },
    fire: (event: T) => {
      for (const listener of [...listeners]) listener(event);
    },
  };
}

/** A part of the API: what is registered, made, listened to and shown. The rest of it is given. */
function part<T extends object>(name: string, members: T): T & Record<string, (...args: unknown[]) => unknown> {
  return new Proxy(members, {
    get(target, key) {
      if (key in target) return Reflect.get(target, key);
      const what = `${name}.${String(key)}`;
      if (/^(onDid|register|create)/.test(String(key))) return () => made(what, {});
      if (/^show.*Message$/.test(String(key))) return async () => undefined; // nobody clicks
      throw new Error(`the played editor has no ${what}`);
    },
  }) as T & Record<string, (...args: unknown[]) => unknown>;
}

/** What menus and welcomes go by. */
export const contexts = new Map<string, unknown>();

const registered = new Map<string, (...args: unknown[]) => unknown>();

export const commands = part("commands", {
  registerCommand: (id: string, run: (...args: unknown[]) => unknown) => {
    registered.set(id, run);
    return made(`the command ${id}`, {}, () => void registered.delete(id));
  },
  executeCommand: async (id: string, ...args: unknown[]) => {
    if (id === "setContext") contexts.set(String(args[0]), args[1]);
    return registered.get(id)?.(...args);
  },
});

interface Rows {
  getChildren(): { item: TreeItem }[];
}

/** A view in the side bar, as the test has it seen. */
export interface View {
  see(visible: boolean): void;
  /** What it shows. */
  rows(): Promise<{ item: TreeItem }[]>;
}
export const views = new Map<string, View>();

/** The notifications that are in sight, with what was reported to them. */
export const notices = new Set<{ reports: { message?: string; increment?: number }[] }>();

interface Provider {
  provideTextDocumentContent(uri: Uri): string;
}
const providers = new Map<string, Provider>();
const documents = new Set<Uri>();

/** The texts of the documents that are shown and that a provider has. */
export function shownTexts(): string[] {
  return [...documents].flatMap((uri) => providers.get(uri.scheme)?.provideTextDocumentContent(uri) ?? []);
}

interface Rowed {
  label: string;
}

/** A list that is in sight. */
export class QuickPick {
  readonly #accepted = new EventEmitter<void>();
  readonly #hidden = new EventEmitter<void>();
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  items: Rowed[] = [];
  selectedItems: Rowed[] = [];

  show(): void {
    lists.push(this);
  }

  hide(): void {
    if (lists.includes(this)) lists.splice(lists.indexOf(this), 1);
    this.#hidden.fire();
  }

  dispose(): void {
    for (const each of [this.#accepted, this.#hidden]) each.dispose();
  }

  /** Clicks the row whose label ends so. */
  click(label: string): void {
    this.selectedItems = this.items.filter((item) => item.label.endsWith(label)).slice(0, 1);
    this.#accepted.fire();
  }
}

/** The lists that are in sight. */
export const lists: QuickPick[] = [];

const log = { debug() {}, info() {}, warn() {}, error() {}, show() {} };

/** The panels that were opened, with their places. */
export const panels: { type: string; place: object }[] = [];

export const window = part("window", {
  activeTextEditor: undefined,
  visibleTextEditors: [],
  tabGroups: {
    all: [],
    activeTabGroup: { tabs: [], viewColumn: 1 },
    close: async () => true,
    onDidChangeTabs: () => made("a listener", {}),
  },
  createOutputChannel: () => made("the log", { ...log }),
  createTextEditorDecorationType: () => made("a decoration", {}),
  createStatusBarItem: () => made("the status bar item", { text: "", show() {}, hide() {} }),
  createQuickPick: () => new QuickPick(),
  createTreeView: (id: string, { treeDataProvider }: { treeDataProvider: Rows }) => {
    const seen = new EventEmitter<{ visible: boolean }>();
    const see = (visible: boolean) => {
      view.visible = visible;
      seen.fire({ visible });
    };
    const rows = async () => treeDataProvider.getChildren();
    const view = { visible: true, badge: undefined, onDidChangeVisibility: seen.event, see, rows };
    views.set(id, view);
    return made(`the view ${id}`, view, () => seen.dispose());
  },
  createWebviewPanel: (type: string, _: string, place: object) => {
    panels.push({ type, place });
    const [closed, changed, received] = [
      new EventEmitter<void>(),
      new EventEmitter<void>(),
      new EventEmitter<{ type: string }>(),
    ];
    const webview = {
      cspSource: "",
      postMessage: async () => true,
      asWebviewUri: String,
      onDidReceiveMessage: received.event,
    };
    const events = { onDidDispose: closed.event, onDidChangeViewState: changed.event };
    return made(`the panel ${type}`, { webview, visible: true, ...events }, () => {
      closed.fire();
      for (const each of [closed, changed, received]) each.dispose();
    });
  },
  showTextDocument: async (uri: Uri) => void documents.add(uri),
  withProgress: async (_: unknown, work: (progress: object, token: object) => Promise<unknown>) => {
    await Promise.resolve(); // the real one asks another process first
    const notice = { reports: [] as { message?: string }[] };
    notices.add(notice);
    const cancelled = new EventEmitter<void>();
    try {
      return await work(
        { report: (step: object) => void notice.reports.push(step) },
        { onCancellationRequested: cancelled.event },
      );
    } finally {
      cancelled.dispose();
      notices.delete(notice);
    }
  },
});

export const l10n = part("l10n", { bundle: undefined });

export const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
const configurationListeners = new Set<(event: object) => void>();
const settings: Record<string, { default: unknown }> = manifest.contributes.configuration.properties;
/** What the settings are, where they differ from the manifest. */
export const configured = new Map<string, unknown>();

/** What a repository's own settings are. */
export const workspaceConfigured = new Map<string, unknown>();

/** Changes a setting, as the user does. */
export function configure(name: string, value: unknown): void {
  configured.set(name, value);
  for (const listener of configurationListeners) listener({ affectsConfiguration: (each: string) => each === name });
}

interface Files {
  readFile(uri: Uri): Uint8Array;
}

/** The file systems that are offered, by their schemes. */
export const fileSystems = new Map<string, Files>();

export const foldersChanged = happening<void>();

export const workspace = part("workspace", {
  onDidChangeWorkspaceFolders: foldersChanged.on,
  isTrusted: true,
  workspaceFolders: undefined as { uri: Uri; name: string }[] | undefined,
  workspaceFile: undefined,
  textDocuments: [],
  onDidChangeConfiguration: (listener: (event: object) => void) => {
    configurationListeners.add(listener);
    return made("a listener", {}, () => void configurationListeners.delete(listener));
  },
  registerTextDocumentContentProvider: (scheme: string, provider: Provider) => {
    providers.set(scheme, provider);
    return made("a text provider", {}, () => void providers.delete(scheme));
  },
  registerFileSystemProvider: (scheme: string, files: Files) => {
    fileSystems.set(scheme, files);
    return made("a file system", {}, () => void fileSystems.delete(scheme));
  },
  createFileSystemWatcher: () => {
    const events = [new EventEmitter(), new EventEmitter(), new EventEmitter()] as const;
    const [created, changed, deleted] = events;
    const members = { onDidCreate: created.event, onDidChange: changed.event, onDidDelete: deleted.event };
    return made("a file watcher", members, () => events.map((each) => each.dispose()));
  },
  getConfiguration: (section?: string) => ({
    get(key: string) {
      const name = section === undefined ? key : `${section}.${key}`;
      return workspaceConfigured.get(name) ?? configured.get(name) ?? settings[name]?.default;
    },
    inspect(key: string) {
      const name = section === undefined ? key : `${section}.${key}`;
      const [globalValue, workspaceValue] = [configured.get(name), workspaceConfigured.get(name)];
      return { defaultValue: settings[name]?.default, globalValue, workspaceValue };
    },
  }),
});

export interface DebugSession {
  id: string;
  name: string;
  type: string;
  configuration: object;
  parentSession?: DebugSession;
  customRequest?(command: string, args: object): Promise<unknown>;
}

interface Tracker {
  onWillReceiveMessage?(message: object): void;
  onDidSendMessage?(message: object): void;
}
type TrackerFactory = { createDebugAdapterTracker(session: DebugSession): Tracker };
const factories = new Map<TrackerFactory, string>();

/** The editor's debugger, as the test has it behave. */
export const debugging = {
  started: happening<DebugSession>(),
  terminated: happening<DebugSession>(),
  breakpointsChanged: happening<object>(),
  /** What was stopped; undefined: all. */
  stopped: [] as (DebugSession | undefined)[],
  start: async (_: object): Promise<boolean> => true,
  stop: (_: DebugSession | undefined): void => {},
  /** Makes the trackers of a session, as the editor does before the session starts. */
  track(session: DebugSession): Tracker[] {
    const fitting = [...factories].filter(([, type]) => type === "*" || type === session.type);
    return fitting.map(([factory]) => factory.createDebugAdapterTracker(session));
  },
};

export const debug = part("debug", {
  activeDebugSession: undefined,
  breakpoints: [] as SourceBreakpoint[],
  onDidStartDebugSession: debugging.started.on,
  onDidTerminateDebugSession: debugging.terminated.on,
  onDidChangeBreakpoints: debugging.breakpointsChanged.on,
  registerDebugAdapterTrackerFactory: (type: string, factory: TrackerFactory) => {
    factories.set(factory, type);
    return made("a tracker factory", {}, () => void factories.delete(factory));
  },
  addBreakpoints: (added: SourceBreakpoint[]) => void debug.breakpoints.push(...added),
  removeBreakpoints: (removed: SourceBreakpoint[]) => {
    debug.breakpoints = debug.breakpoints.filter((each) => !removed.includes(each));
  },
  startDebugging: (_: unknown, what: object) => debugging.start(what),
  stopDebugging: async (session?: DebugSession) => {
    debugging.stopped.push(session);
    debugging.stop(session);
  },
});
export const lm = part("lm", {});
export const env = { remoteName: undefined, language: "en" };

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly fsPath: string,
  ) {}

  static file(path: string): Uri {
    return new Uri("file", path);
  }

  get path(): string {
    return this.fsPath;
  }

  static from({ scheme, path }: { scheme: string; path: string }): Uri {
    return new Uri(scheme, path);
  }

  static joinPath({ fsPath }: Uri, ...parts: string[]): Uri {
    return Uri.file(join(fsPath, ...parts));
  }
}

export class Location {
  readonly range: { start: Position };
  constructor(
    readonly uri: Uri,
    start: Position,
  ) {
    this.range = { start };
  }
}
export class SourceBreakpoint {
  readonly id = randomUUID();
  constructor(
    readonly location: Pick<Location, "uri" | "range">,
    readonly enabled = true,
  ) {}
}
export class ThemeColor {
  constructor(readonly id: string) {}
}
export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}
export class TreeItem {
  description?: string;
  iconPath?: ThemeIcon;
  constructor(readonly label: string) {}
}
export class TabInputWebview {}
export const StatusBarAlignment = {};
export const QuickPickItemKind = { Separator: -1 };
export const TreeItemCollapsibleState = {};
export const ViewColumn = { Active: -1, Beside: -2, One: 1 };
export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
export class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}
export const DecorationRangeBehavior = {};
export const ProgressLocation = {};
