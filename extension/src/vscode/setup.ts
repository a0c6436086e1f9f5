// Enters the coordinator into the configuration of a program that hosts agents, after showing what would be written.
import { basename, isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { homeDirectory } from "../core/files/home";
import { type Log, reason } from "../core/log";
import { readText, writeText } from "../core/setup/configfile";
import type { Entry } from "../core/setup/entry";
import { type Host, hosts, toPaste, withEntry } from "../core/setup/hosts";
import { NoCoordinator } from "../core/setup/program";
import { coordinatorCommand, offerToFindCoordinator } from "./coordinator";

const scheme = "browser-coordinator-setup";

/** Serves the two sides of the comparison as long as they are open: what was read, and what would be written. */
class Sides implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  #count = 0;

  put(path: string, text: string): vscode.Uri {
    this.#count += 1; // a comparison that is still open keeps its own
    const uri = vscode.Uri.from({ scheme, path: `/${path}`, query: `${this.#count}` });
    this.#texts.set(uri.toString(), text);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  forget({ uri }: vscode.TextDocument): void {
    this.#texts.delete(uri.toString());
  }
}

export function offerSetup(context: vscode.ExtensionContext, log: Log): vscode.Disposable {
  const sides = new Sides();
  const run = async () => {
    try {
      await setUp(context, sides);
    } catch (error) {
      if (error instanceof NoCoordinator) return offerToFindCoordinator(error.message);
      log.error(`setting up an agent: ${reason(error)}`);
      void vscode.window.showErrorMessage(`Browser Coordinator: ${reason(error)}`);
    }
  };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, sides),
    vscode.workspace.onDidCloseTextDocument((document) => sides.forget(document)),
    vscode.commands.registerCommand("browserCoordinator.setUpAgent", run),
  );
}

interface Choice extends vscode.QuickPickItem {
  host?: Host;
}

async function setUp(context: vscode.ExtensionContext, sides: Sides): Promise<void> {
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === "file") ?? [];
  const entry: Entry = { command: await coordinatorCommand(context), args: ["mcp"] };
  const choices: Choice[] = hosts
    .filter(({ place }) => place === "home" || folders.length > 0)
    .map((host) => ({ label: host.label, description: shown(host), host }));
  choices.push({ label: "Another program", description: "Copies the entry, to paste" });
  const choice = await vscode.window.showQuickPick(choices, {
    title: "Set Up an Agent",
    placeHolder: "Which program should use this window's browser? You see what will be written before it is.",
  });
  if (!choice) return;
  const { host } = choice;
  if (!host) {
    await vscode.env.clipboard.writeText(toPaste(entry));
    void vscode.window.showInformationMessage(
      "The entry is on the clipboard. Start the program in this folder, so that it finds this window.",
    );
    return;
  }
  const target = await targetOf(host, folders);
  if (!target) return;
  try {
    await write(target, entry, sides);
  } catch (error) {
    await vscode.env.clipboard.writeText(toPaste(entry, host));
    void vscode.window.showWarningMessage(
      `${target.shown} is left as it is: ${reason(error)}. The entry is on the clipboard, for you to paste.`,
    );
  }
}

/** The host's file: its folder, unless it is in the home directory, and its name for the user. */
interface Target {
  host: Host;
  folder?: string;
  shown: string;
}

function shown({ place, file }: Host): string {
  return place === "home" ? `~/${file}` : file;
}

async function targetOf(host: Host, folders: vscode.WorkspaceFolder[]): Promise<Target | undefined> {
  if (host.place === "home") return { host, shown: shown(host) };
  const items = folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder }));
  const title = `${host.label}: ${host.file} of which folder?`;
  const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title }) : items[0];
  if (!picked) return undefined;
  const { uri, name } = picked.folder;
  return { host, folder: uri.fsPath, shown: `${host.file} of the folder ${name}` };
}

async function write({ host, folder, shown }: Target, entry: Entry, sides: Sides): Promise<void> {
  const file = join(folder ?? homeDirectory(), host.file);
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === file);
  if (open?.isDirty) throw new Error("it has changes that are not saved");
  const before = await readText(file);
  const after = withEntry(host, before ?? "", entry);
  if (before === after) {
    void vscode.window.showInformationMessage(`${shown} has the entry already. ${host.next}`);
    return;
  }
  const [left, right] = [sides.put(host.file, before ?? ""), sides.put(host.file, after)];
  const title = `${basename(file)}: what will be written`;
  await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true });
  const bound = host.place === "folder" && isAbsolute(entry.command);
  const answer = await vscode.window.showInformationMessage(
    `Write this to ${shown} for ${host.label}?${bound ? " The program's path is one of this machine: it works for no one else." : ""}`,
    "Write",
    "Cancel",
  );
  await close(right);
  if (answer !== "Write") return;
  await writeText(file, before, after);
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  void vscode.window.showInformationMessage(`${shown} is written. ${host.next}`);
}

/** Closes the comparison. */
async function close(right: vscode.Uri): Promise<void> {
  const isIt = ({ input }: vscode.Tab) =>
    input instanceof vscode.TabInputTextDiff && input.modified.toString() === right.toString();
  await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isIt)));
}
