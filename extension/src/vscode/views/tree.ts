// What the side bar's views have in common.
import * as vscode from "vscode";
import type { Pages } from "../../core/browser/pages";
import { renew, type TreeRow } from "../../core/treechanges";

/** A row, with the rows below it. */
export interface Row extends TreeRow {
  item: vscode.TreeItem;
  rows?: Row[];
  /** Makes the tooltip of an item without one, when the user wants to see it. */
  tooltip?: () => vscode.MarkdownString;
}

/** The shortest time between two redraws of a view, in ms. */
const pause = 100;

/** How long an editor takes at most to draw a view for the first time, in ms. It reports no end of that. */
const firstDrawing = 1_000;

/** Shows rows, and after a change those that have changed, if the view is in sight. */
export class RowView implements vscode.TreeDataProvider<Row> {
  readonly #changed = new vscode.EventEmitter<Row[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<Row>;
  readonly #rows: () => Row[];
  /** What the editor was given, if it has asked since the view was last out of sight. */
  #shown: Row[] | undefined;
  /** When the editor has asked for that. */
  #asked = 0;
  #timer: NodeJS.Timeout | undefined;
  #redraw: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(id: string, rows: () => Row[]) {
    this.#rows = rows;
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
  }

  /** What is shown may have changed. */
  readonly update = (): void => {
    if (this.#disposed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
    }, pause);
  };

  /** Has these pages followed while the view is visible: otherwise the browser gets no request. */
  showing(pages: Pages): vscode.Disposable {
    const update = () => pages.show(this, this.view.visible);
    update();
    return this.view.onDidChangeVisibility(update);
  }

  getTreeItem({ item }: Row): vscode.TreeItem {
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, { tooltip }: Row): vscode.TreeItem {
    if (tooltip) item.tooltip = tooltip();
    return item;
  }

  getChildren(row?: Row): Row[] {
    if (row) return row.rows ?? [];
    if (!this.#shown) {
      this.#shown = this.#rows();
      this.#asked = performance.now();
    }
    return this.#shown;
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#redraw);
    this.view.dispose();
    this.#changed.dispose();
  }

  #draw(): void {
    if (!this.view.visible) this.#shown = undefined; // the editor asks again when it is
    const changed = this.#shown && renew(this.#shown, this.#rows());
    const rows = changed === "all" ? undefined : changed; // undefined: all
    if (rows?.length === 0) return;
    this.#changed.fire(rows);
    // The editor can lose what changes while it still draws the rows that it was given, and keeps the old ones then.
    const isEarly = performance.now() - this.#asked < firstDrawing;
    if (isEarly) this.#redraw ??= setTimeout(() => this.#drawAll(), firstDrawing);
  }

  #drawAll(): void {
    this.#redraw = undefined;
    this.#changed.fire(undefined);
  }
}

export interface Look {
  id: string;
  description?: string;
  icon?: string;
  /** A colour of the theme, for the icon. */
  color?: string;
  tooltip?: string;
  /** What its icon shows, for a screen reader. */
  spoken?: string;
  /** The context value that menus depend on. */
  context?: string;
  command?: { command: string; title: string; arguments?: unknown[] };
  /** Whether the rows below it are in sight at first. */
  open?: boolean;
}

export function row(label: string, look: Look, rows?: Row[]): Row {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, rows ? (look.open ? Expanded : Collapsed) : None);
  const { id, description, icon, color, tooltip, spoken, context, command } = look;
  item.id = id;
  if (description !== undefined) item.description = description;
  if (icon !== undefined) item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  if (tooltip !== undefined) item.tooltip = tooltip;
  // Else a screen reader would read the tooltip in place of the row.
  const parts = [label, spoken, description].filter((part) => part !== undefined && part !== "");
  item.accessibilityInformation = { label: parts.join(", ") };
  if (context !== undefined) item.contextValue = context;
  if (command) item.command = command;
  const appearance = JSON.stringify([label, look, rows !== undefined]);
  return rows ? { id, drawn: appearance, item, rows } : { id, drawn: appearance, item };
}
