function () {
  // The options that this list of the page's own shows now: those in it and in what it names, else
  // those that were not shown before it was opened, see list.js.
  const { shown } = library.visibility(), options = "[role=option], [role=treeitem], [role=menuitemradio]";
  const shadowOf = (e) => e.$shadowRoot ?? memory.closedRoots?.get(e);
  const below = (n) => [n, ...[n, ...n.$querySelectorAll("*")].map(shadowOf).filter(Boolean).flatMap(below)];
  const within = (n) => below(n).flatMap((root) => [...root.$querySelectorAll(options)]).filter((o) => shown(o));
  const parts = [this, ...this.$querySelectorAll("input, [aria-controls], [aria-owns]")];
  const named = parts.flatMap((e) => [...e.$ariaControlsElements ?? [], ...e.$ariaOwnsElements ?? []]);
  const own = [this, ...named].flatMap(within);
  return own.length ? [...new Set(own)] : within(document).filter((o) => !memory.unopened?.has(o));
}
