// The view "Agents": what they may do, the endpoint, and which clients are connected.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { modeWords, type StoppableClient, stoppable } from "../../core/access/access";
import { questionText, requestText } from "../../core/access/actions";
import { clock, grantText } from "../../core/access/activity";
import { coverName, coverText, type Grant, type Permissions } from "../../core/access/permission";
import type { Pages } from "../../core/browser/pages";
import { clientName, nameOf, pageName, plain } from "../../core/plaintext";
import type { ConnectedClient } from "../../core/protocol/protocol.generated";
import { NoCoordinator } from "../../core/setup/program";
import type { Clients } from "../../core/window/clients";
import type { Store } from "../../core/window/store";
import { askEndpoint, type Endpoint } from "../endpoint";
import type { Window } from "../window";
import { type Row, RowView, row } from "./tree";

/** A row of a client, as its commands get it. */
export interface ClientRow extends Row {
  client: ConnectedClient;
}

/** A row of what a client is allowed for its session. */
export interface GrantRow extends Row {
  grant: Grant;
}

export interface AgentsParts {
  extension: vscode.Uri;
  window: Window;
  store: Store;
  clients: Clients;
  permissions: Permissions;
  pages: Pages;
}

type EndpointState = { workspace: string | null; endpoint?: Endpoint; problem?: string };

export function openAgentsView(parts: AgentsParts): vscode.Disposable {
  const { window, store, clients, permissions, pages } = parts;
  let endpoint: EndpointState | undefined;
  /** The last question to the coordinator, which may have no answer yet. */
  let asking: { workspace: string | null } | undefined;
  let served = clients.served;
  const view = new RowView("browserCoordinator.agents", () => rows(parts, endpoint));
  // Where the user is while the program is paused: it exists only while a client is connected.
  const beside = new RowView("browserCoordinator.presence", () => clientRows(parts));
  const askAgain = async () => {
    const { serving } = window;
    if (!view.view.visible || serving.kind !== "open") return; // it starts a process
    const mine = { workspace: serving.workspace };
    asking = mine;
    const answer = await ask(parts.extension, mine.workspace);
    if (asking !== mine) return; // the window has moved meanwhile, or the endpoint's server has gone
    endpoint = answer;
    view.update();
  };
  const askOnce = () => {
    const { serving } = window;
    if (serving.kind === "open" && serving.workspace !== asking?.workspace) void askAgain();
  };
  const update = () => {
    const { takenOver = false } = store.state.access;
    const waiting = permissions.waiting + (takenOver ? clients.running.length : 0);
    const tooltip = waiting === 1 ? l10n.t("An agent waits for you") : l10n.t("{0} agents wait for you", waiting);
    view.view.badge = waiting > 0 ? { value: waiting, tooltip } : undefined;
    view.view.description = stopState(stoppable(store, clients));
    view.update();
    beside.update();
    // It is collapsed at first, as all views of extensions in that place: only its title is seen then.
    const names = new Set(clients.connected.map(({ name }) => nameOf(name, 40)));
    const { question } = permissions;
    beside.view.title = question
      ? l10n.t("{0} asks you", nameOf(question.client.name, 40))
      : l10n.t("Browser Agents: {0}", [...names].join(", "));
    if (served === clients.served) return;
    served = clients.served;
    void askAgain();
  };
  const stop = [store, clients, permissions, pages].map((part) => part.subscribe(update));
  update();
  void askAgain();
  return vscode.Disposable.from(
    view,
    beside,
    view.showing(pages),
    beside.showing(pages),
    view.view.onDidChangeVisibility(askAgain), // it may have been served, or not, meanwhile
    window.onDidChange(askOnce), // it fires for clients too
    vscode.workspace.onDidChangeConfiguration(
      (event) => event.affectsConfiguration("browserCoordinator.coordinatorPath") && askAgain(),
    ),
    { dispose: () => stop.map((unsubscribe) => unsubscribe()) },
  );
}

/** Beside the view's name, also while it is collapsed. */
function stopState(all: StoppableClient[]): string {
  const stopped = all.filter((each) => each.stopped).length;
  if (stopped === 0) return "";
  return stopped === all.length ? l10n.t("all stopped") : l10n.t("{0} of {1} stopped", stopped, all.length);
}

async function ask(extension: vscode.Uri, workspace: string | null): Promise<EndpointState> {
  if (workspace === null) return { workspace, problem: l10n.t("open a folder first") };
  try {
    return { workspace, endpoint: await askEndpoint(extension, workspace) };
  } catch (error) {
    const problem = error instanceof NoCoordinator ? error.message : l10n.t("the coordinator did not report it");
    return { workspace, problem };
  }
}

function rows(parts: AgentsParts, state: EndpointState | undefined): Row[] {
  const { mode } = parts.store.state.access;
  const words = modeWords(mode);
  const access = row(words.label, {
    id: "access",
    icon: words.icon,
    tooltip: `${words.label}\n${words.detail} ${l10n.t("Click to change it.")}`,
    spoken: words.detail,
    description: l10n.t("change"),
    context: "access",
    command: { command: "browserCoordinator.changeAccess", title: l10n.t("Change What Agents May Do") },
  });
  const all = clientRows(parts);
  const nobody = row(l10n.t("No agent is connected"), {
    id: "nobody",
    icon: "info",
    tooltip: l10n.t("No agent is connected. Click to see how one gets here."),
    command: { command: "browserCoordinator.getStarted", title: l10n.t("Get Started") },
  });
  return [access, endpointRow(state), ...(all.length > 0 ? all : [nobody])];
}

function endpointRow(state: EndpointState | undefined): Row {
  const { endpoint, problem } = state ?? {};
  const hint = endpoint && !endpoint.served ? l10n.t("starts with the first agent") : undefined;
  const about = endpoint
    ? l10n.t(
        "The stable address of this window's browser, for Playwright, Puppeteer and other CDP tools. Click to copy it.",
      )
    : l10n.t("Click to see what is missing.");
  const description = endpoint?.url ?? problem ?? "…";
  return row(l10n.t("Endpoint"), {
    id: "endpoint",
    icon: hint ? "debug-disconnect" : "plug",
    description: hint ? `${description} · ${hint}` : description,
    tooltip: [hint ? `${description} (${hint})` : description, about].join("\n"),
    context: "endpoint",
    command: { command: "browserCoordinator.copyEndpoint", title: l10n.t("Copy CDP Endpoint") },
  });
}

function clientRows(parts: AgentsParts): Row[] {
  const joining = parts.permissions.joining.map((client) =>
    row(nameOf(client.name), {
      id: `joining ${client.id}`,
      icon: "bell-dot",
      description: l10n.t("wants to connect"),
      tooltip: l10n.t(
        "{0} wants to control this browser.",
        plain(`${nameOf(client.name, 2_000)} ${client.version}`, 2_100),
      ),
      spoken: l10n.t("a CDP client"),
      command: { command: "browserCoordinator.answerQuestion", title: l10n.t("Answer") },
    }),
  );
  return [...joining, ...stoppable(parts.store, parts.clients).map((each) => clientRow(each, parts))];
}

function clientRow({ client, stopped, connected }: StoppableClient, parts: AgentsParts): ClientRow {
  const { store, permissions, pages } = parts;
  const { id, name, version, kind, since } = client;
  const { question } = permissions;
  const hasQuestion = question?.client.id === id;
  const present = kind === "mcp" ? l10n.t("an MCP client") : l10n.t("a CDP client");
  const status = connected ? present : l10n.t("not connected");
  const now = stopped
    ? l10n.t("stopped by you")
    : hasQuestion
      ? l10n.t("asks you")
      : mayText(client, store, permissions);
  const page = pages.all.find((each) => each.id === client.page);
  const place = page ? pageName(page, 60) : "";
  const look = {
    id: `client ${id}`,
    icon: stopped ? "debug-pause" : hasQuestion ? "bell-dot" : kind === "mcp" ? "hubot" : "tools",
    ...(stopped && { color: "list.warningForeground" }),
    description: [now, place, plain(version, 40)].filter((part) => part !== "").join(" · "),
    tooltip: [
      `${plain(`${nameOf(name, 2_000)} ${version}`, 2_100)}, ${status}`,
      connected ? l10n.t("Connected since {0}", clock(since)) : "",
      place === "" ? "" : l10n.t("Works in “{0}”", place),
      hasQuestion && question ? questionText(question) : now,
    ]
      .filter((line) => line !== "")
      .join("\n"),
    spoken: status,
    context: stopped ? "client.stopped" : "client.going",
    ...(hasQuestion && { command: { command: "browserCoordinator.answerQuestion", title: l10n.t("Answer") } }),
  };
  const grants = permissions.grants.filter((grant) => grant.client.id === id).map(grantRow);
  return { ...row(nameOf(name), look, grants.length > 0 ? grants : undefined), client };
}

/** What the user has allowed the client where asked; the rows below its own have what it covers. */
function mayText({ id, kind, access }: ConnectedClient, store: Store, permissions: Permissions): string {
  if (kind === "cdp" && access !== undefined && store.state.access.mode === "ask")
    return access === "ask" ? l10n.t("may act") : l10n.t("may only view");
  const grants = permissions.grants.filter(({ client }) => client.id === id);
  if (grants.length === 0) return "";
  return l10n.t("{0} allowed", grants.map(coverText).join(", "));
}

function grantRow(grant: Grant): GrantRow {
  const { client, covers, origin, action } = grant;
  const text = grantText(grant);
  const look = {
    id: `grant ${covers} ${origin} ${client.id}`,
    icon: "pass",
    description: text,
    tooltip: [
      l10n.t("{0} may do this without asking, until it leaves or you revoke it.", clientName(client)),
      text,
      l10n.t("You were asked about: {0}", requestText(action)),
    ].join("\n"),
    spoken: l10n.t("allowed for this session"),
    context: "grant",
  };
  return { ...row(coverName(covers), look), grant };
}
