// Has the coordinator enter itself into the configuration of a program that hosts agents, after showing what it
// would write.
import { execFile } from "node:child_process";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { type Log, reason } from "../core/log";
import { plain } from "../core/plaintext";
import { failure } from "../core/setup/failure";
import { NoCoordinator } from "../core/setup/program";
import { coordinatorCommand, findCoordinator, offerToFindCoordinator } from "./coordinator";
import { inform, reportError, warn } from "./notifications";

const execute = promisify(execFile);

const scheme = "browser-coordinator-setup";

/** What the user has asked for and not agreed to yet. */
interface Proposal {
  target: Target;
  change: Change;
}

/** What `coordinator setup HOST --json` prints of these. */
interface Change {
  file: string;
  /** Null where there is no file. */
  before: string | null;
  after: string;
  changed: boolean;
  next: string;
  note: string;
  /** Of what the file has; the change is only written if it still has that. */
  revision: string;
}

/** One file of a program that hosts agents, as `coordinator setup --json` lists it. */
interface HostFile {
  host: string;
  name: string;
  /** Empty where the program has no file for others to write. */
  scope: "project" | "user" | "";
  file: string;
  /** The one that most people want. */
  default: boolean;
  /** The program is on this machine. */
  found: boolean;
  /** The coordinator's entry; empty where there is none. */
  entry: string;
  works: boolean;
}

/** The proposals that are shown, each in its own comparison: what was read, and what would be written. */
class Proposals implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #open = new Map<string, Proposal>();
  #count = 0;

  async show(proposal: Proposal): Promise<void> {
    const { target, change } = proposal;
    const [left, right] = [this.#put(change.file, change.before ?? ""), this.#put(change.file, change.after)];
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
    const open = new Set(tabs().map((tab) => modified(tab)?.toString()));
    for (const right of this.#open.keys()) if (!open.has(right)) this.#open.delete(right);
  }

  #put(path: string, text: string): vscode.Uri {
    this.#count += 1; // a comparison that is still open keeps its own
    const uri = vscode.Uri.from({ scheme, path: vscode.Uri.file(path).path, query: `${this.#count}` });
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
  const register = (name: string, work: () => Promise<unknown>) =>
    vscode.commands.registerCommand(`browserCoordinator.${name}`, async () => {
      try {
        await work();
      } catch (error) {
        if (error instanceof NoCoordinator) return offerToFindCoordinator(error.message);
        log.error(`setting up an agent: ${reason(error)}`);
        void reportError(`Browser Coordinator: ${reason(error)}`);
      }
    });
  // Those that the editor has restored are empty.
  void vscode.window.tabGroups.close(tabs().filter(modified));
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, proposals),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => proposals.forgetText(uri)),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => closed.length > 0 && proposals.forgetClosed()),
    register("setUpAgent", () => setUp(context, proposals)),
    register("writeSetup", async () => {
      const proposal = await proposals.take();
      if (proposal) await orPaste(context, proposal.target, () => write(context, proposal));
    }),
    register("cancelSetup", () => proposals.take()),
  );
}

/** Runs `coordinator setup` for entries that start the coordinator by a command that lasts. */
async function run(context: vscode.ExtensionContext, args: string[]): Promise<string> {
  const program = await findCoordinator(context.extensionUri);
  const command = await coordinatorCommand(context);
  try {
    const options = { cwd: context.extensionUri.fsPath, maxBuffer: 256 << 20, timeout: 30_000 };
    const { stdout } = await execute(program, ["setup", ...args, "--command", command], options);
    return stdout;
  } catch (error) {
    throw new Error(failure(error));
  }
}

interface Choice extends vscode.QuickPickItem {
  files: HostFile[];
}

async function setUp(context: vscode.ExtensionContext, proposals: Proposals): Promise<void> {
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === "file") ?? [];
  const folder = folders[0]?.uri.fsPath;
  // The list opens at once, and fills when the coordinator has responded: one that opened only then could take the
  // place of another that the user has opened meanwhile.
  const choice = await vscode.window.showQuickPick(choicesIn(context, folder), {
    title: l10n.t("Set Up an Agent"),
    placeHolder: l10n.t("Choose an agent. You can review the change first."),
  });
  if (!choice) return;
  const host = choice.files.length > 1 ? await pickFile(choice, folder) : choice.files[0];
  if (choice.files.length > 0 && !host) return;
  if (!host) {
    await vscode.env.clipboard.writeText(await run(context, ["--print"]));
    inform(l10n.t("The entry is on the clipboard. Start the program in this folder, so that it finds this window."));
    return;
  }
  if (host.scope === "") {
    const { after, next }: Change = JSON.parse(await run(context, [host.host, "--json", "--dry-run"]));
    await vscode.env.clipboard.writeText(after);
    inform(l10n.t("The entry is on the clipboard. {0}", next));
    return;
  }
  const target = await targetOf(host, folders);
  if (!target) return;
  await orPaste(context, target, () => propose(context, target, proposals));
}

/** The agents that can be set up, those on this machine first. */
async function choicesIn(context: vscode.ExtensionContext, folder: string | undefined): Promise<Choice[]> {
  const list = await run(context, ["--json", ...(folder ? ["--workspace", folder] : [])]);
  const { hosts: files }: { hosts: HostFile[] } = JSON.parse(list);
  const choosable = files.filter(({ scope }) => scope !== "project" || folder !== undefined);
  const names = [...new Set(choosable.map(({ name }) => name))];
  const hosts = names.map((name) => choosable.filter((file) => file.name === name));
  const isHere = (files: HostFile[]) => files.some(({ found, entry }) => found || entry !== "");
  const sorted = [...hosts.filter(isHere), ...hosts.filter((files) => !isHere(files))];
  const choices: Choice[] = sorted.map((files) => ({
    label: files[0]?.name ?? "",
    description: stateOf(files, folder),
    files,
  }));
  return [
    ...choices,
    { label: l10n.t("Another program"), description: l10n.t("Copies the entry, to paste"), files: [] },
  ];
}

/** What there is of a host on this machine, beside its name. */
function stateOf(files: HostFile[], folder: string | undefined): string {
  const entered = files.find(({ entry, works }) => entry !== "" && works) ?? files.find(({ entry }) => entry !== "");
  if (entered?.works) return l10n.t("set up in {0}", pathOf(entered, folder));
  if (entered) return l10n.t("set up in {0}, but it does not work", pathOf(entered, folder));
  const copies = files.every(({ scope }) => scope === "") ? l10n.t("copies the entry, to paste") : "";
  return [files.some(({ found }) => found) ? l10n.t("installed") : "", copies].filter(Boolean).join(", ");
}

/** Lets the user choose one of a host's files: the project's or their own. */
async function pickFile({ label, files }: Choice, folder: string | undefined): Promise<HostFile | undefined> {
  const sorted = [...files.filter((file) => file.default), ...files.filter((file) => !file.default)];
  const items = sorted.map((file) => ({
    label:
      file.scope === "user" ? l10n.t("For you, in every folder") : l10n.t("For this folder, and all who work in it"),
    description: pathOf(file, folder) + (file.entry === "" ? "" : ` · ${l10n.t("set up")}`),
    file,
  }));
  return (await vscode.window.showQuickPick(items, { title: l10n.t("{0}: for whom?", label) }))?.file;
}

/** A host's file as its user knows it. */
function pathOf({ scope, file }: HostFile, folder: string | undefined): string {
  return scope === "user" ? inHome(file) : relative(folder ?? "", file);
}

/** A file of the user, as people write it. */
function inHome(file: string): string {
  const home = process.env.HOME ?? process.env.USERPROFILE ?? "";
  return home !== "" && file.startsWith(home + sep) ? `~${file.slice(home.length)}` : file;
}

/** Where that fails the user gets the entry to paste. */
async function orPaste(context: vscode.ExtensionContext, target: Target, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await vscode.env.clipboard.writeText(await run(context, ["--print", target.host.host]));
    void warn(
      l10n.t(
        "{0} is left as it is: {1}. The entry is on the clipboard, for you to paste.",
        target.shown,
        reason(error),
      ),
    );
  }
}

/** The host's file: its folder, unless it is the user's, and its name for the user. */
interface Target {
  host: HostFile;
  file: string;
  folder?: string;
  shown: string;
}

async function targetOf(host: HostFile, folders: vscode.WorkspaceFolder[]): Promise<Target | undefined> {
  if (host.scope === "user") return { host, file: host.file, shown: inHome(host.file) || host.name };
  const file = pathOf(host, folders[0]?.uri.fsPath);
  const items = folders.map((folder) => ({
    label: plain(folder.name, 100),
    description: plain(folder.uri.fsPath, 300),
    folder,
  }));
  const title = l10n.t("{0}: {1} of which folder?", host.name, file);
  const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title }) : items[0];
  if (!picked) return undefined;
  const { uri, name } = picked.folder;
  return {
    host,
    file: join(uri.fsPath, file),
    folder: uri.fsPath,
    shown: plain(l10n.t("{0} of the folder {1}", file, name), 100),
  };
}

/** The coordinator's change of the target. */
async function changeOf(context: vscode.ExtensionContext, target: Target, how: string[]): Promise<Change> {
  const { host, folder } = target;
  const workspaceArgs = folder === undefined ? [] : ["--workspace", folder];
  return JSON.parse(await run(context, [host.host, `--${host.scope}`, "--json", ...how, ...workspaceArgs]));
}

async function propose(context: vscode.ExtensionContext, target: Target, proposals: Proposals): Promise<void> {
  const file = vscode.Uri.file(target.file).toString();
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === file);
  if (open?.isDirty) throw new Error(l10n.t("it has changes that are not saved"));
  const change = await changeOf(context, target, ["--dry-run"]);
  if (change.changed) return proposals.show({ target, change });
  inform(l10n.t("{0} has the entry already. {1}", target.shown, change.next));
}

async function write(context: vscode.ExtensionContext, { target, change }: Proposal): Promise<void> {
  const { file, next, note } = await changeOf(context, target, ["--yes", "--expect", change.revision]);
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  const message = [l10n.t("{0} is written. {1}", target.shown, next), note].join(" ").trim();
  inform(message);
}
