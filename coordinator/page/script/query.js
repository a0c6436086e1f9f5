function (selector) {
  // One element, null for none, or a string that says what is wrong.
  const found = [];
  const search = (root) => {
    found.push(...root.querySelectorAll(selector));
    for (const host of root.querySelectorAll("*")) {
      const shadow = host.shadowRoot ?? globalThis.closedRoots?.get(host);
      if (shadow) search(shadow);
    }
  };
  try {
    search(document);
  } catch (e) {
    return "is neither a ref nor a valid CSS selector";
  }
  if (found.length > 1) {
    const visible = found.filter((e) => e.checkVisibility());
    if (visible.length === 1) return visible[0];
    return `matches ${found.length} elements: make it unique, or take a snapshot and use a ref`;
  }
  return found[0] ?? null;
}
