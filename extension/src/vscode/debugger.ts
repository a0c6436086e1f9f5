// The editor's debugger for the core: the messages of its sessions and adapters, and the requests of clients.
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import type { EndedSessions } from "../core/browser/endedsessions";
import { type DebugEditor, Debugger } from "../core/debugger/debugger";
import type { Launch } from "../core/debugger/launches";
import { type DapMessage, isFailedStart, Threads } from "../core/debugger/threads";
import { isSamePath, toEditor } from "../core/files/paths";
import { Refusal } from "../core/protocol/request";
import type { Store } from "../core/window/store";
import { AgentBreakpoints } from "./breakpoints";
import { followSessions, info } from "./debug";
import { folders } from "./folders";

export function openDebugger(
  context: vscode.ExtensionContext,
  store: Store,
  endedSessions: EndedSessions,
): { debugger: Debugger; disposable: vscode.Disposable } {
  const breakpoints = new AgentBreakpoints(context.workspaceState);
  const threads = new Threads();
  const sessions = new Map<string, vscode.DebugSession>();
  const ended = (id: string) => {
    endedSessions.ended(id);
    sessions.delete(id);
    threads.ended(id);
  };
  const follow = (session: vscode.DebugSession, watched = false) => {
    sessions.set(session.id, session);
    threads.started(info(session), watched);
    if (session.parentSession && !sessions.has(session.parentSession.id)) follow(session.parentSession);
  };
  const trackers = vscode.debug.registerDebugAdapterTrackerFactory("*", {
    createDebugAdapterTracker(session) {
      endedSessions.started(session.id);
      follow(session, true); // the editor reports a session only when it has started
      return {
        onWillReceiveMessage(message: DapMessage) {
          threads.toAdapter(session.id, message);
          const browser = sessions.get(threads.browserToStop(session.id, message)?.id ?? "");
          if (browser) void vscode.debug.stopDebugging(browser);
        },
        onDidSendMessage(message: DapMessage) {
          threads.fromAdapter(session.id, message);
          if (isFailedStart(message)) ended(session.id); // the editor fires no event for its end
        },
        onError: () => ended(session.id),
      };
    },
  });
  const followed = followSessions(endedSessions, {
    started: (session) => follow(session),
    ended: ({ id }) => ended(id),
  });
  return {
    debugger: new Debugger(threads, editor(sessions, store, breakpoints)),
    disposable: vscode.Disposable.from(trackers, followed, breakpoints),
  };
}

function editor(
  sessions: ReadonlyMap<string, vscode.DebugSession>,
  store: Store,
  agents: AgentBreakpoints,
): DebugEditor {
  /** Never none: the editor would stop all sessions. */
  const known = (id: string): vscode.DebugSession => {
    const session = sessions.get(id);
    if (session) return session;
    throw new Refusal("bad_payload", "the debug session has ended: see debug.state", { session: id });
  };
  return {
    get mode() {
      return store.state.access.mode;
    },
    launches,
    get firstFolder() {
      return folders()[0];
    },
    start: ({ folder, what }) => vscode.debug.startDebugging(folderAt(folder), what as string),
    stop: async (id) => vscode.debug.stopDebugging(known(id)),
    ask: async (id, command, args) => known(id).customRequest(command, args),
    folder: async (path) => {
      const folder = await toEditor(path, folders());
      return folders().find((each) => isSamePath(each, folder)) ?? folder;
    },
    toFile: fileOf,
    file: existing,
    breakpoints: () => sourceBreakpoints().map(toBreakpoint),
    setBreakpoint({ path, line, condition, logMessage }, client) {
      const replaced = breakpointsAt(path, line);
      vscode.debug.removeBreakpoints(replaced);
      const place = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, 0));
      const breakpoint = new vscode.SourceBreakpoint(place, true, condition, undefined, logMessage);
      if (client !== undefined) agents.setBy(client, breakpoint);
      vscode.debug.addBreakpoints([breakpoint]);
      return replaced.length + 1;
    },
    removeBreakpoints(path, line) {
      const breakpoints = breakpointsAt(path, line);
      vscode.debug.removeBreakpoints(breakpoints);
      return breakpoints.length;
    },
    async reveal(path, line, column) {
      const position = new vscode.Position((line ?? 1) - 1, (column ?? 1) - 1);
      const selection = line === undefined ? undefined : new vscode.Range(position, position);
      const uri = vscode.Uri.file(path);
      const viewColumn = groupWith(uri)?.viewColumn;
      const options: vscode.TextDocumentShowOptions = {
        preserveFocus: true,
        ...(selection && { selection }),
        ...(viewColumn && { viewColumn }),
      };
      await vscode.commands.executeCommand("vscode.open", uri, options);
    },
  };
}

/** The editor group that has the file open: the active one, else one that shows it, else any. */
function groupWith(uri: vscode.Uri): vscode.TabGroup | undefined {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const isIt = ({ input }: vscode.Tab) => input instanceof vscode.TabInputText && `${input.uri}` === `${uri}`;
  const groups = [activeTabGroup, ...all].filter(({ tabs }) => tabs.some(isIt));
  return groups.find((group) => group === activeTabGroup || (group.activeTab && isIt(group.activeTab))) ?? groups[0];
}

/** The launch configurations of each folder, in the workspace file and in the user's settings. */
function launches(): Launch[] {
  const { workspaceFolders = [], workspaceFile } = vscode.workspace;
  const read = (
    folder: vscode.WorkspaceFolder | undefined,
    pick: (section: Section | undefined) => unknown,
  ): Launch => {
    const settings = vscode.workspace.getConfiguration("launch", folder);
    const list = (name: string) => {
      const value = pick(settings.inspect(name));
      return Array.isArray(value) ? value : [];
    };
    return {
      folder: folder?.uri.fsPath,
      configurations: list("configurations"),
      compounds: list("compounds"),
    };
  };
  return [
    ...workspaceFolders.map((folder) => read(folder, (section) => section?.workspaceFolderValue)),
    ...(workspaceFile ? [read(undefined, (section) => section?.workspaceValue)] : []),
    read(undefined, (section) => section?.globalValue),
  ];
}

type Section = NonNullable<ReturnType<vscode.WorkspaceConfiguration["inspect"]>>;

function folderAt(path: string | undefined): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.find(({ uri }) => path !== undefined && isSamePath(uri.fsPath, path));
}

/** The editor gives sources as paths or as URIs; those of a remote window are files of this machine. */
function fileOf(source: string): string | undefined {
  if (isAbsolute(source)) return source;
  const { scheme, path } = vscode.Uri.parse(source);
  return scheme === "file" || scheme === "vscode-remote" ? vscode.Uri.file(path).fsPath : undefined;
}

async function existing(path: string): Promise<string> {
  const file = await toEditor(path, folders());
  if (!(await stat(file)).isFile()) throw new Error(`${file} is no file`);
  return file;
}

function sourceBreakpoints(): vscode.SourceBreakpoint[] {
  return vscode.debug.breakpoints.filter(
    (each): each is vscode.SourceBreakpoint =>
      each instanceof vscode.SourceBreakpoint && each.location.uri.scheme === "file",
  );
}

function breakpointsAt(path: string, line: number | undefined): vscode.SourceBreakpoint[] {
  return sourceBreakpoints().filter(
    ({ location: { uri, range } }) =>
      isSamePath(uri.fsPath, path) && (line === undefined || range.start.line === line - 1),
  );
}

function toBreakpoint({ location, enabled, condition, logMessage, hitCondition }: vscode.SourceBreakpoint) {
  const { line, character } = location.range.start;
  return {
    path: location.uri.fsPath,
    line: line + 1,
    ...(character > 0 && { column: character + 1 }),
    enabled,
    ...(condition && { condition }),
    ...(logMessage && { logMessage }),
    ...(hitCondition && { hitCondition }),
  };
}
