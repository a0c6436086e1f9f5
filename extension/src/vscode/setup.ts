// Enters the coordinator into the configuration of a program that hosts agents, after showing what would be written.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import * as vscode from "vscode";
import { type Entry, Unreadable } from "../core/entry";
import { type Host, hosts, toPaste, withEntry } from "../core/hosts";
import { type Log, reason } from "../core/log";
import { findCoordinator } from "./coordinator";
import { NoCoordinator, offerToFindCoordinator } from "./endpoint";

const scheme = "browser-coordinator-setup";

/** Serves the two sides of the comparison, which are no files yet, as long as they are open. */
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

export function offerSetup(extension: vscode.Uri, log: Log): vscode.Disposable {
  const sides = new Sides();
  const run = async () => {
    try {
      await setUp(extension, sides);
    } catch (error) {
      if (error instanceof NoCoordinator) return offerToFindCoordinator();
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

async function setUp(extension: vscode.Uri, sides: Sides): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri.fsPath;
  const program = await findCoordinator(extension);
  if (!program) throw new NoCoordinator("the coordinator is not installed");
  const choices: Choice[] = hosts
    .filter(({ place }) => place === "home" || folder)
    .map((host) => ({ label: host.label, description: shown(host), host }));
  choices.push({ label: "Another program", description: "Copies the entry, to paste" });
  const choice = await vscode.window.showQuickPick(choices, {
    title: "Set Up an Agent",
    placeHolder: "Which program is to use this window's browser? You see what will be written before it is.",
  });
  if (!choice) return;
  const entry: Entry = { command: portable(program), args: ["mcp"] };
  if (!choice.host) {
    await vscode.env.clipboard.writeText(toPaste(entry));
    void vscode.window.showInformationMessage(
      "The entry is on the clipboard. Start the program in this folder, so that it finds this window.",
    );
    return;
  }
  await write(choice.host, entry, folder, sides);
}

async function write(host: Host, entry: Entry, folder: string | undefined, sides: Sides): Promise<void> {
  const file = join(host.place === "home" ? homedir() : (folder as string), host.file);
  const before = await present(file);
  const after = await proposed(host, before ?? "", entry);
  if (after === undefined) return;
  if (before === after) {
    void vscode.window.showInformationMessage(`${shown(host)} has the entry already. ${host.next}`);
    return;
  }
  const left = before === undefined ? sides.put(`empty/${host.file}`, "") : vscode.Uri.file(file);
  const right = sides.put(`proposed/${host.file}`, after);
  await vscode.commands.executeCommand("vscode.diff", left, right, `${basename(file)}: what will be written`, {
    preview: true,
  });
  const answer = await vscode.window.showInformationMessage(
    `Write this to ${shown(host)} for ${host.label}?`,
    "Write",
    "Cancel",
  );
  if (answer !== "Write") return;
  if ((await present(file)) !== before) throw new Error(`${shown(host)} has changed meanwhile: nothing was written`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, after);
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  void vscode.window.showInformationMessage(`${shown(host)} is written. ${host.next}`);
}

/** The file with the entry. Where it has none, the human gets the entry to enter it. */
async function proposed(host: Host, before: string, entry: Entry): Promise<string | undefined> {
  try {
    return withEntry(host, before, entry);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    await vscode.env.clipboard.writeText(toPaste(entry, host));
    void vscode.window.showWarningMessage(
      `${shown(host)} is left as it is: ${error.message}. The entry is on the clipboard, for you to paste.`,
    );
    return undefined;
  }
}

/** A program on PATH goes by its name, so that the entry is good for others too. */
function portable(program: string): string {
  const onPath = (process.env.PATH ?? "").split(delimiter).includes(dirname(program));
  return onPath ? basename(program) : program;
}

function shown(host: Host): string {
  return host.place === "home" ? `~/${host.file}` : host.file;
}

async function present(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
