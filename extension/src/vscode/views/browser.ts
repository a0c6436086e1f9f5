// The view "Browser": this window's browser and its pages.
import * as vscode from "vscode";
import type { Log } from "../../core/log";
import { type Page, Pages } from "../../core/pages";
import type { Store } from "../../core/store";
import { browserName, pageName, plain } from "../../core/words";
import { type Row, RowView, row } from "./tree";

/** A row of a page, as its commands get it. */
export interface PageRow extends Row {
  page: Page;
}

export function openBrowserView(store: Store, log: Log): vscode.Disposable {
  const pages = new Pages(store, log);
  const view = new RowView("browserCoordinator.browser", () => rows(store, pages));
  const look = () => {
    pages.looking = view.view.visible; // nobody asks the browser for what nobody sees
  };
  const visible = view.view.onDidChangeVisibility(look);
  const stop = [store.subscribe(view.update), pages.subscribe(view.update)];
  look();
  return vscode.Disposable.from(
    view,
    visible,
    { dispose: () => pages.close() },
    { dispose: () => stop.map((f) => f()) },
  );
}

function rows(store: Store, pages: Pages): Row[] {
  const { state } = store;
  const name = browserName(state);
  if (!name) return [];
  const below = pages.all.map((page) => pageRow(page, state.browser !== null));
  if (!state.browser) return below;
  const session = state.debugSessions.find(({ id }) => id === state.browser?.debugSession);
  return [row(name, { id: "browser", icon: "browser", description: session?.name ?? "", open: true }, below)];
}

function pageRow(page: Page, reachable: boolean): PageRow {
  const look = {
    id: page.id,
    icon: "file",
    description: plain(page.url, 200),
    tooltip: `${pageName(page, 2_000)}\n${plain(page.url, 2_000)}`,
    context: reachable ? "page" : "debuggerPage",
  };
  return { ...row(pageName(page), look), page };
}
