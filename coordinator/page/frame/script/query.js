function (selector) {
  // One element, null for none, or why the selector is unusable, as a string.
  const MAX_NAMED = 5;
  const found = library.matching(selector);
  if (typeof found === "string") return found;
  if (found.length < 2) return found[0] ?? null;
  const { displayed, collapsed } = library.visibility(), { labelOf, named } = library.naming();
  const visible = found.filter((e) => displayed(e) && !collapsed(e));
  if (visible.length === 1) return visible[0];
  const refOf = (e) => (memory.numbers?.has(e) ? ` [ref=e${memory.numbers.get(e)}]` : "");
  const names = found.slice(0, MAX_NAMED).map((e) => labelOf(named(e)) + refOf(e));
  if (found.length > MAX_NAMED) names.push("…");
  return `matches ${found.length} elements (${names.join(", ")}): make it unique, or take a snapshot and use a ref`;
}
