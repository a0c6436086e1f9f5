function ({ origin, area, action, name, value, items }) {
  // Lists, sets, removes, clears or replaces the items of localStorage or
  // sessionStorage. The page may show another origin by now.
  if (origin && location.origin !== origin) throw new Error(`the page has gone from ${origin} to ${location.origin}`);
  const stored = window[area];
  switch (action) {
    case "set": stored.setItem(name, value); break;
    case "remove": stored.removeItem(name); break;
    case "clear": stored.clear(); break;
    case "replace":
      stored.clear();
      for (const item of items ?? []) stored.setItem(item.name, item.value);
  }
  if (action !== "list") return "[]";
  const names = Array.from({ length: stored.length }, (_, i) => stored.key(i));
  return JSON.stringify(names.map((name) => ({ name, value: stored.getItem(name) })));
}
