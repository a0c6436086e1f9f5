// Enters the coordinator into the configuration of a program that hosts agents, after showing what would be written.
import { isAbsolute, join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { homeDirectory } from "../core/files/home";
import { type Log, reason } from "../core/log";
import { readText, writeText } from "../core/setup/configfile";
import type { Entry } from "../core/setup/entry";
import { type Host, hosts, toPaste, withEntry } from "../core/setup/hosts";
import { NoCoordinator } from "../core/setup/program";
import { coordinatorCommand, offerToFindCoordinator } from "./coordinator";

const scheme = "browser-coordinator-setup";

/** What the user has asked for and not agreed to yet. */
interface Proposal {
  target: Target;
  entry: Entry;
  file: string;
  before: string | undefined;
  after: string;
}

/** The proposals that are shown, each in a comparison of its own: what was read, and what would be written. */
class Proposals implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #open = new Map<string, Proposal>();
  #count = 0;

  async show(proposal: Proposal): Promise<void> {
    const { target, before, after } = proposal;
    const [left, right] = [this.#put(target.host.file, before ?? ""), this.#put(target.host.file, after)];
    const title = l10n.t("What will be written to {0}", target.shown);
    // No preview, which the next file that the user opens would replace.
    await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: false });
    this.#open.set(right.toString(), proposal);
  }

  /** The proposal that the user looks at, whose comparison is closed now. */
  async take(): Promise<Proposal | undefined> {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const right = tab && modified(tab);
    const proposal = right && this.#open.get(right.toString());
    if (proposal) await vscode.window.tabGroups.close(tab);
    return proposal;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  forgetText(uri: vscode.Uri): void {
    this.#texts.delete(uri.toString());
  }

  /** A comparison that is closed is cancelled. */
  forgetClosed(): void {
    const shown = new Set(tabs().map((tab) => modified(tab)?.toString()));
    for (const right of this.#open.keys()) if (!shown.has(right)) this.#open.delete(right);
  }

  #put(path: string, text: string): vscode.Uri {
    this.#count += 1; // a comparison that is still open keeps its own
    const uri = vscode.Uri.from({ scheme, path: `/${path}`, query: `${this.#count}` });
    this.#texts.set(uri.toString(), text);
    return uri;
  }
}

function tabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
}

/** The side of a comparison of ours that would be written. */
function modified({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme ? input.modified : undefined;
}

export function offerSetup(context: vscode.ExtensionContext, log: Log): vscode.Disposable {
  const proposals = new Proposals();
  const on = (name: string, work: () => Promise<unknown>) =>
    vscode.commands.registerCommand(`browserCoordinator.${name}`, async () => {
      try {
        await work();
      } catch (error) {
        if (error instanceof NoCoordinator) return offerToFindCoordinator(error.message);
        log.error(`setting up an agent: ${reason(error)}`);
        void vscode.window.showErrorMessage(`Browser Coordinator: ${reason(error)}`);
      }
    });
  // Those that the editor has restored are empty.
  void vscode.window.tabGroups.close(tabs().filter(modified));
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, proposals),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => proposals.forgetText(uri)),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => closed.length > 0 && proposals.forgetClosed()),
    on("setUpAgent", () => setUp(context, proposals)),
    on("writeSetup", async () => {
      const proposal = await proposals.take();
      if (proposal) await orPaste(proposal, () => write(proposal));
    }),
    on("cancelSetup", () => proposals.take()),
  );
}

interface Choice extends vscode.QuickPickItem {
  host?: Host;
}

async function setUp(context: vscode.ExtensionContext, proposals: Proposals): Promise<void> {
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === "file") ?? [];
  const entry: Entry = { command: await coordinatorCommand(context), args: ["mcp"] };
  const choices: Choice[] = hosts
    .filter(({ place }) => place === "home" || folders.length > 0)
    .map((host) => ({ label: host.label, description: shown(host), host }));
  choices.push({ label: l10n.t("Another program"), description: l10n.t("Copies the entry, to paste") });
  const choice = await vscode.window.showQuickPick(choices, {
    title: l10n.t("Set Up an Agent"),
    placeHolder: l10n.t("Choose an agent. You can review the change first."),
  });
  if (!choice) return;
  const { host } = choice;
  if (!host) {
    await vscode.env.clipboard.writeText(toPaste(entry));
    void vscode.window.showInformationMessage(
      l10n.t("The entry is on the clipboard. Start the program in this folder, so that it finds this window."),
    );
    return;
  }
  const target = await targetOf(host, folders);
  if (!target) return;
  await orPaste({ target, entry }, () => propose(target, entry, proposals));
}

/** Where that fails the user gets the entry to paste. */
async function orPaste(
  { target, entry }: Pick<Proposal, "target" | "entry">,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    await vscode.env.clipboard.writeText(toPaste(entry, target.host));
    void vscode.window.showWarningMessage(
      l10n.t(
        "{0} is left as it is: {1}. The entry is on the clipboard, for you to paste.",
        target.shown,
        reason(error),
      ),
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
  const title = l10n.t("{0}: {1} of which folder?", host.label, host.file);
  const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title }) : items[0];
  if (!picked) return undefined;
  const { uri, name } = picked.folder;
  return { host, folder: uri.fsPath, shown: l10n.t("{0} of the folder {1}", host.file, name) };
}

async function propose(target: Target, entry: Entry, proposals: Proposals): Promise<void> {
  const { host, folder, shown } = target;
  const file = join(folder ?? homeDirectory(), host.file);
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === file);
  if (open?.isDirty) throw new Error(l10n.t("it has changes that are not saved"));
  const before = await readText(file);
  const after = withEntry(host, before ?? "", entry);
  if (before !== after) return proposals.show({ target, entry, file, before, after });
  void vscode.window.showInformationMessage(l10n.t("{0} has the entry already. {1}", shown, host.next()));
}

async function write({ target: { host, shown }, entry, file, before, after }: Proposal): Promise<void> {
  await writeText(file, before, after);
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  const bound = host.place === "folder" && isAbsolute(entry.command);
  const note = bound ? ` ${l10n.t("This path only works on this machine. Don't commit it.")}` : "";
  void vscode.window.showInformationMessage(`${l10n.t("{0} is written. {1}", shown, host.next())}${note}`);
}
