// The commands that control agents, and those of the side bar's rows.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { resume, resumeAll, setMode, setTakenOver, stop, stopAll, stoppable } from "../core/access/access";
import { grantText } from "../core/access/activity";
import { coverName, type Grant } from "../core/access/permission";
import { devToolsAddress, openDevTools } from "../core/browser/devtools";
import { actOnPage, listPages, pageActions } from "../core/browser/pages";
import { reason } from "../core/log";
import { clientName, isWebUrl, pageName, plain } from "../core/plaintext";
import type { ConnectedClient } from "../core/protocol/protocol.generated";
import { NoCoordinator } from "../core/setup/program";
import type { Given } from "../core/window/tests";
import { chooseMode } from "./access";
import type { Parts } from "./commands";
import { offerToFindCoordinator } from "./coordinator";
import { askEndpoint, clientUrl, reportCopied, startServing } from "./endpoint";
import { inform, reportError, warn, whileConnecting } from "./notifications";
import type { ActionRow, DetailRow } from "./views/activity";
import type { ClientRow, GrantRow } from "./views/agents";
import type { PageRow } from "./views/browser";

export function registerAgentCommands(parts: Parts): vscode.Disposable {
  const { store, clients, walkthrough } = parts;
  const register = (name: string, run: (row?: never) => unknown) =>
    vscode.commands.registerCommand(`browserCoordinator.${name}`, run);
  return vscode.Disposable.from(
    register("changeAccess", async () => {
      const mode = await chooseMode(store.state.access.mode);
      if (!mode) return;
      setMode(store, mode);
      walkthrough.done("access");
    }),
    register("stopAgent", async (row?: ClientRow) => {
      const client = row?.client ?? (await pickClient(parts, false));
      if (client) stop(store, client);
    }),
    register("resumeAgent", async (row?: ClientRow) => {
      const client = row?.client ?? (await pickClient(parts, true));
      if (client) resume(store, client);
    }),
    register("revokePermission", async (row?: GrantRow) => {
      const grant = row?.grant ?? (await pickGrant(parts));
      if (grant) parts.permissions.revoke(grant);
    }),
    register("stopAllAgents", () => stopAll(store, clients)),
    register("resumeAllAgents", () => resumeAll(store)),
    register("takeOver", () => setTakenOver(store, true)),
    register("giveBack", () => setTakenOver(store, false)),
    register("openDevTools", (row?: PageRow) => openPage(parts, row)),
    ...Object.entries(pageActions).map(([name, method]) => register(name, (row?: PageRow) => act(parts, row, method))),
    register("copyPageUrl", (row?: PageRow) => copy(row?.page.url)),
    register("copyDetail", (row?: DetailRow) => copy(row?.value)),
    register("openUrl", (row?: DetailRow) => row && openUrl(row.value)),
    register("clearActivity", () => clients.clear()),
    register("exportActivity", (row?: ActionRow) => exportActivity(parts, row?.client)),
    register("getStarted", () => walkthrough.open()),
  );
}

async function copy(text: string | undefined): Promise<void> {
  if (text) await vscode.env.clipboard.writeText(text);
}

/** How long an agent's program may take for a test, in ms. An older one gives none. */
const testLimit = 20_000;

/** Opens what an agent has done as a test, as its program has recorded it. */
async function exportActivity(parts: Parts, id?: string): Promise<void> {
  const client = await pickAgent(parts, id);
  if (!client) return;
  const name = clientName(client);
  const late = l10n.t("its program did not answer: it may be older than this extension.");
  const given = await whileConnecting(
    l10n.t("{0} exports what it did as a test", name),
    async (_, signal): Promise<Given | undefined> => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(testLimit)]);
      return parts.tests.request(client.id, limit).catch(() => (signal.aborted ? undefined : { problem: late }));
    },
  );
  if (given?.code !== undefined) {
    const document = await vscode.workspace.openTextDocument({ language: "typescript", content: given.code });
    await vscode.window.showTextDocument(document);
  } else if (given) void warn(l10n.t("{0} exports no test: {1}", name, plain(given.problem ?? "", 300)));
}

/** The agent of this id, or the one that the user picks. */
async function pickAgent({ clients }: Parts, id?: string): Promise<ConnectedClient | undefined> {
  const agents = clients.connected.filter(({ kind }) => kind === "mcp");
  const wanted = id === undefined ? agents : agents.filter((client) => client.id === id);
  if (wanted.length < 2) {
    if (wanted.length === 0) inform(l10n.t("Only an agent that is connected can export what it did."));
    return wanted[0];
  }
  const items = wanted.map((client) => ({ label: clientName(client), client }));
  return (await vscode.window.showQuickPick(items, { title: l10n.t("Export the activity of which agent?") }))?.client;
}

/** A page's address comes from a client: by other schemes the editor would open programs. */
async function openUrl(url: string): Promise<void> {
  if (!isWebUrl(url)) return;
  try {
    // As a text, which editors take too: as a Uri it would come out with other characters escaped than went in.
    await vscode.env.openExternal(url as unknown as vscode.Uri);
  } catch {
    await vscode.env.openExternal(vscode.Uri.parse(url));
  }
}

async function pickClient({ store, clients }: Parts, stopped: boolean): Promise<ConnectedClient | undefined> {
  const choices = stoppable(store, clients).filter((each) => each.stopped === stopped);
  if (choices.length === 0) {
    inform(stopped ? l10n.t("No agent is stopped.") : l10n.t("No agent is connected."));
    return undefined;
  }
  const items = choices.map(({ client }) => ({ label: clientName(client), client }));
  const title = stopped ? l10n.t("Resume which agent?") : l10n.t("Stop which agent?");
  return (await vscode.window.showQuickPick(items, { title }))?.client;
}

async function pickGrant({ permissions }: Parts): Promise<Grant | undefined> {
  if (permissions.grants.length === 0) {
    inform(l10n.t("Nothing is allowed for a session: agents are asked about each time, or may do everything."));
    return undefined;
  }
  const items = permissions.grants.map((grant) => ({
    label: l10n.t("{0}: {1}", clientName(grant.client), coverName(grant.covers)),
    description: grantText(grant),
    grant,
  }));
  return (await vscode.window.showQuickPick(items, { title: l10n.t("Revoke which permission?") }))?.grant;
}

async function openPage(parts: Parts, row: PageRow | undefined): Promise<void> {
  const { browser } = parts.store.state;
  if (!browser) {
    void warn(l10n.t("This window has no browser whose DevTools could be opened."));
    return;
  }
  try {
    const page = row?.page.id ?? (await pickPage(browser.url));
    if (page === undefined) return;
    const opened = await openDevTools(browser.url, page);
    if (opened === "headless") await giveAddress(parts, page);
    if (opened === "unknown") inform(l10n.t("Press F12 in the browser: it is too old to be asked."));
  } catch (error) {
    if (error instanceof NoCoordinator) await offerToFindCoordinator(error.message);
    else void reportError(l10n.t("DevTools did not open: {0}", reason(error)));
  }
}

async function act({ store }: Parts, row: PageRow | undefined, method: string): Promise<void> {
  const { browser } = store.state;
  if (!row || !browser) return;
  try {
    await actOnPage(browser.url, row.page, method);
  } catch (error) {
    void reportError(l10n.t('The browser cannot do that with the page "{0}": {1}', pageName(row.page), reason(error)));
  }
}

async function pickPage(browser: string): Promise<string | undefined> {
  const pages = await listPages(browser);
  if (pages.length < 2) return pages[0]?.id;
  const items = pages.map(({ id, title, url }) => ({
    label: pageName({ title, url }),
    description: plain(url, 200),
    id,
  }));
  return (await vscode.window.showQuickPick(items, { title: l10n.t("DevTools of which page?") }))?.id;
}

/** A browser without a screen cannot show DevTools; any other Chrome can. */
async function giveAddress({ extension, window }: Parts, page: string): Promise<void> {
  const { serving } = window;
  if (serving.kind !== "open" || serving.workspace === null) throw new Error(l10n.t("open a folder first"));
  const { workspace } = serving;
  const endpoint = await askEndpoint(extension, workspace);
  await vscode.env.clipboard.writeText(devToolsAddress(clientUrl(endpoint), page));
  const message = l10n.t("This browser has no screen. Paste the address, which is copied, into Chrome's address bar.");
  await reportCopied(message, endpoint, () => startServing(extension, workspace));
}
