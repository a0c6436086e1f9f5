// Which rows of a tree to redraw. While an editor redraws a row with its whole list, a click on it
// reaches the command without its row; so only what has changed is drawn.

/** A row of a tree, with the rows below it. */
export interface TreeRow {
  /** Its own in the whole tree. */
  id: string;
  /** All that is seen of it: two that are equal here look the same. */
  drawn: string;
  rows?: TreeRow[];
}

/**
 * Updates shown to now, and returns the rows to redraw, or "all" where rows came, went or moved.
 * Those that stay keep their objects: a tree knows its rows by them.
 */
export function renew<R extends TreeRow>(shown: R[], now: R[]): R[] | "all" {
  const before = new Map(shown.map((row) => [row.id, row]));
  const unchanged = shown.length === now.length && now.every(({ id }, index) => shown[index]?.id === id);
  const changed: R[] = [];
  const rows = now.map((row) => {
    const old = before.get(row.id);
    if (!old || old === row) return row;
    const { drawn, rows = [] } = old;
    const changes = renew(rows, row.rows ?? []) as R[] | "all";
    const missing = Object.keys(old).filter((key) => !(key in row));
    Object.assign(old, Object.fromEntries(missing.map((key) => [key, undefined])), row, { rows: row.rows && rows });
    if (drawn !== row.drawn || changes === "all") changed.push(old);
    else changed.push(...changes);
    return old;
  });
  shown.splice(0, shown.length, ...rows);
  return unchanged ? changed : "all";
}
