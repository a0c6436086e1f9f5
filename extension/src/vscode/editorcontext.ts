// The active editor, as the window reports it: only for files in its folders, only while the user shares it,
// and only while a client is connected.
import * as vscode from "vscode";
import { windowPaths } from "../core/files/paths";
import type { Editor } from "../core/protocol/protocol.generated";
import { EditorContext } from "../core/window/editorcontext";
import type { Store } from "../core/window/store";
import { folders } from "./folders";
import { isEnabled } from "./settings";
import type { Window } from "./window";

const setting = "browserCoordinator.shareEditor";

export function shareEditor(store: Store, window: Window): vscode.Disposable {
  let toWindow: (path: string) => string | undefined = () => undefined;
  const hasClients = () => window.serving.kind === "open" && window.serving.server.connected > 0;
  const context = new EditorContext(store, () => read(toWindow), hasClients);
  const changed = () => context.changed();
  const foldersChanged = async () => {
    toWindow = await windowPaths(folders());
    changed();
  };
  const ofActive = (document: vscode.TextDocument) => {
    if (document === vscode.window.activeTextEditor?.document) changed();
  };
  void foldersChanged();
  return vscode.Disposable.from(
    { dispose: () => context.close() },
    window.onDidChange(() => context.now()),
    vscode.window.onDidChangeActiveTextEditor(changed),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => ofActive(textEditor.document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => ofActive(document)), // reports dirty too
    vscode.workspace.onDidSaveTextDocument(ofActive),
    vscode.workspace.onDidChangeWorkspaceFolders(foldersChanged),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(setting) && changed()),
  );
}

function read(toWindow: (path: string) => string | undefined): Editor | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !isEnabled("shareEditor") || editor.document.uri.scheme !== "file") return undefined;
  const { document, selection } = editor;
  const { isDirty: dirty } = document;
  const path = toWindow(document.uri.fsPath);
  if (path === undefined) return undefined;
  return {
    path,
    line: selection.start.line + 1,
    column: selection.start.character + 1,
    endLine: selection.end.line + 1,
    endColumn: selection.end.character + 1,
    dirty,
  };
}
