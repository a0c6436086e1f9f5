// The view "Browser": this window's browser and its pages.
import * as vscode from "vscode";
import { describePort } from "../../core/browser/debuggingport";
import { type Page, Pages } from "../../core/browser/pages";
import type { Sessions } from "../../core/browser/sessions";
import type { Log } from "../../core/log";
import { browserName, pageName, plain } from "../../core/plaintext";
import type { Store } from "../../core/window/store";
import { type Row, RowView, row } from "./tree";

/** A row of a page, as its commands get it. */
export interface PageRow extends Row {
  page: Page;
}

export function openBrowserView(store: Store, sessions: Sessions, log: Log): vscode.Disposable {
  const pages = new Pages(store, log);
  const view = new RowView("browserCoordinator.browser", () => rows(store, sessions, pages));
  const update = () => {
    pages.visible = view.view.visible; // the browser gets no request while the view is hidden
  };
  const visible = view.view.onDidChangeVisibility(update);
  const stop = [store.subscribe(view.update), pages.subscribe(view.update)];
  update();
  return vscode.Disposable.from(
    view,
    visible,
    { dispose: () => pages.close() },
    { dispose: () => stop.map((f) => f()) },
  );
}

function rows({ state }: Store, sessions: Sessions, pages: Pages): Row[] {
  const { browser, debugSessions } = state;
  const name = browserName(state);
  if (!name) return [];
  const id = browser?.debugSession ?? state.pages.at(-1)?.debugSession;
  const below = pages.all.map((page) => pageRow(page, browser !== null));
  const { short, long } = describePort(browser?.via, id === undefined ? undefined : sessions.decisionOf(id));
  const look = { id: "browser", tooltip: long, open: true };
  if (!browser) return [row("No debugging port", { ...look, icon: "shield", description: short }, below)];
  const session = debugSessions.find((each) => each.id === id);
  const description = [session?.name, short].filter(Boolean).join(" · ");
  return [row(name, { ...look, icon: "browser", description }, below)];
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
