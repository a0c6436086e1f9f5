// The view "Browser": this window's browser and its pages.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { describePort } from "../../core/browser/debuggingport";
import type { Page, Pages } from "../../core/browser/pages";
import type { Sessions } from "../../core/browser/sessions";
import { browserName, nameOf, pageName, plain } from "../../core/plaintext";
import type { Clients } from "../../core/window/clients";
import type { Store } from "../../core/window/store";
import { type Row, RowView, row } from "./tree";

/** A row of a page, as its commands get it. */
export interface PageRow extends Row {
  page: Page;
}

export interface BrowserParts {
  store: Store;
  sessions: Sessions;
  pages: Pages;
  clients: Clients;
}

export function openBrowserView(parts: BrowserParts): vscode.Disposable {
  const view = new RowView("browserCoordinator.browser", () => rows(parts));
  const stop = [parts.store, parts.pages, parts.clients].map((part) => part.subscribe(view.update));
  return vscode.Disposable.from(view, view.showing(parts.pages), { dispose: () => stop.map((f) => f()) });
}

function rows({ store: { state }, sessions, pages, clients }: BrowserParts): Row[] {
  const { browser, debugSessions } = state;
  const name = browserName(state);
  if (!name) return [];
  const id = browser?.debugSession ?? state.pages.at(-1)?.debugSession;
  const below = pages.all.map((page) => pageRow(page, browser !== null, clients));
  const { short, long } = describePort(browser?.via, id === undefined ? undefined : sessions.decisionOf(id));
  const look = { id: "browser", tooltip: long, open: true };
  if (!browser) return [row(l10n.t("No debugging port"), { ...look, icon: "shield", description: short }, below)];
  const session = debugSessions.find((each) => each.id === id);
  const description = [plain(session?.name ?? "", 100), short].filter(Boolean).join(" · ");
  return [row(name, { ...look, icon: "browser", description }, below)];
}

function pageRow(page: Page, reachable: boolean, clients: Clients): PageRow {
  const workers = clients.connected.filter((client) => client.page === page.id).map(({ name }) => nameOf(name, 40));
  const worker = workers.length > 0 ? l10n.t("{0} works here", workers.join(", ")) : "";
  const look = {
    id: page.id,
    icon: "file",
    description: [...workers, plain(page.url, 200)].join(" · "),
    tooltip: [pageName(page, 2_000), plain(page.url, 2_000), worker].filter((line) => line !== "").join("\n"),
    context: reachable ? "page" : "debuggerPage",
  };
  return { ...row(pageName(page), look), page };
}
