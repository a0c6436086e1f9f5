// What the side bar's views have in common.
import * as vscode from "vscode";

/** A row, with the rows below it. */
export interface Row {
  item: vscode.TreeItem;
  rows?: Row[];
}

/** No more often than this is a view drawn anew. */
const pause = 100;

/** Shows rows, and asks for them again after a change, if the view is in sight. */
export class RowView implements vscode.TreeDataProvider<Row> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<Row>;
  readonly #rows: () => Row[];
  #timer: NodeJS.Timeout | undefined;
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
      this.#changed.fire();
    }, pause);
  };

  getTreeItem({ item }: Row): vscode.TreeItem {
    return item;
  }

  getChildren(row?: Row): Row[] {
    return row ? (row.rows ?? []) : this.#rows();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.view.dispose();
    this.#changed.dispose();
  }
}

export interface Look {
  id?: string;
  description?: string;
  icon?: string;
  /** A colour of the theme, for the icon. */
  color?: string;
  tooltip?: string;
  /** What menus go by. */
  context?: string;
  command?: { command: string; title: string; arguments?: unknown[] };
  /** Whether the rows below it are in sight at first. */
  open?: boolean;
}

export function row(label: string, look: Look, rows?: Row[]): Row {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, rows ? (look.open ? Expanded : Collapsed) : None);
  const { id, description, icon, color, tooltip, context, command } = look;
  if (id !== undefined) item.id = id;
  if (description !== undefined) item.description = description;
  if (icon !== undefined) item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  if (tooltip !== undefined) item.tooltip = tooltip;
  if (context !== undefined) item.contextValue = context;
  if (command) item.command = command;
  return rows ? { item, rows } : { item };
}
