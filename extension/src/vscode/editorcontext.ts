// The active editor, as the window tells it: only of files in its folders, and only while the human
// shares it.
import * as vscode from "vscode";
import { EditorContext } from "../core/editorcontext";
import { toWindow } from "../core/places";
import type { Editor } from "../core/protocol.generated";
import type { Store } from "../core/store";

const setting = "browserCoordinator.shareEditor";

export function shareEditor(store: Store): vscode.Disposable {
  const context = new EditorContext(store, read);
  const changed = () => context.changed();
  const ofActive = (document: vscode.TextDocument) => {
    if (document === vscode.window.activeTextEditor?.document) changed();
  };
  changed();
  return vscode.Disposable.from(
    { dispose: () => context.close() },
    vscode.window.onDidChangeActiveTextEditor(changed),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => ofActive(textEditor.document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => ofActive(document)), // tells of dirty too
    vscode.workspace.onDidSaveTextDocument(ofActive),
    vscode.workspace.onDidChangeWorkspaceFolders(changed),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(setting) && changed()),
  );
}

async function read(): Promise<Editor | undefined> {
  const editor = vscode.window.activeTextEditor;
  const shared = vscode.workspace.getConfiguration().get(setting, true);
  if (!editor || !shared || editor.document.uri.scheme !== "file") return undefined;
  const { document, selection } = editor;
  const { isDirty: dirty } = document;
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const path = await toWindow(document.uri.fsPath, folders);
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
