function (selector) {
  // One element, null for none, or why the selector is unusable, as a string.
  const shadowOf = (e) => e.shadowRoot ?? globalThis.closedRoots?.get(e);
  // below are a root or element and the shadow roots in it.
  const below = (n) => [n, ...[n, ...n.querySelectorAll("*")].map(shadowOf).filter(Boolean).flatMap(below)];
  let found;
  try {
    found = below(document).flatMap((root) => [...root.querySelectorAll(selector)]);
  } catch (e) {
    return "is neither a ref nor a valid CSS selector";
  }
  if (!found.length) found = pierced();
  if (found.length > 1) {
    const visible = found.filter((e) => e.checkVisibility());
    if (visible.length === 1) return visible[0];
    return `matches ${found.length} elements: make it unique, or take a snapshot and use a ref`;
  }
  return found[0] ?? null;

  // pierced finds "a b" where shadow roots stand between a and b, as Playwright does.
  function pierced() {
    const parts = descendants();
    if (parts.length < 2) return [];
    let within = [document];
    for (const part of parts) within = [...new Set(within.flatMap(below).flatMap((root) => [...root.querySelectorAll(part)]))];
    return within;
  }

  // descendants takes a selector apart at its spaces; a list of selectors not at all.
  function descendants() {
    const parts = [""];
    let depth = 0, quote = "";
    for (const c of selector.trim().replace(/\s*([>+~])\s*/g, "$1")) {
      if (quote) quote = c === quote ? "" : quote;
      else if (c === "'" || c === '"') quote = c;
      else if ("([".includes(c)) depth++;
      else if (")]".includes(c)) depth--;
      else if (c === "," && !depth) return [];
      else if (/\s/.test(c) && !depth) {
        if (parts.at(-1)) parts.push("");
        continue;
      }
      parts[parts.length - 1] += c;
    }
    return parts;
  }
}
