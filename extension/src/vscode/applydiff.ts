// Applies a diff of a review, when the user has clicked Apply: as one change of the editor, which can be undone and
// is saved as the user's own typing is. All of its files fit, or nothing is changed.
import { readFile } from "node:fs/promises";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { isSamePath } from "../core/files/paths";
import { folders } from "./folders";

/** The changes that the user has asked for, one after the other. */
let changes: Promise<unknown> = Promise.resolve();

/** Returns what was done, to display. */
export function applyDiff(diff: Promise<string>): Promise<string> {
  const done = changes.then(async () => apply(await diff));
  changes = done.catch(() => {}); // the caller gets the error
  return done;
}

/** The text of a file after those changes, as the editor has it; undefined where no diff may change it. */
export async function readFileNow(name: string): Promise<string | undefined> {
  await changes;
  const { allowedFile } = await import("../core/review/patch");
  const path = await allowedFile(name, folders()).catch(() => undefined);
  if (path === undefined) return undefined;
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && isSamePath(uri.fsPath, path));
  return open?.getText() ?? readFile(path, "utf8").catch(() => undefined);
}

async function apply(diff: string): Promise<string> {
  if (!vscode.workspace.isTrusted) throw new Error(l10n.t("Trust this workspace first."));
  const { allowedFile, difference, filePatches, patched } = await import("../core/review/patch");
  const patches = filePatches(diff);
  const documents: vscode.TextDocument[] = [];
  for (const { file } of patches) {
    documents.push(await vscode.workspace.openTextDocument(vscode.Uri.file(await allowedFile(file, folders()))));
  }
  const edit = new vscode.WorkspaceEdit();
  const places = patches.map((patch, index) => {
    const document = documents[index] as vscode.TextDocument;
    const before = document.getText();
    const { start, end, text } = difference(before, patched(before, patch));
    edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
    return document.positionAt(start);
  });
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error(l10n.t("The editor refused the change."));
  const [document, place] = [documents[0] as vscode.TextDocument, places[0] as vscode.Position];
  const selection = new vscode.Range(place, place);
  await vscode.window.showTextDocument(document, {
    viewColumn: vscode.ViewColumn.One,
    preserveFocus: true, // of a user who goes on in the review
    preview: false,
    selection,
  });
  return l10n.t("Changed: {0}. Undo it in the editor.", patches.map(({ file }) => file).join(", "));
}
