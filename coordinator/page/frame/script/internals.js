function (semantics) {
  // Keeps the roles, names and states that the browser knows of the custom elements in
  // memory.customs, whose classes alone see their ElementInternals. A kind of element without
  // any is not asked about again. Returns whether there is something new.
  let fresh = false;
  const { roles } = library.naming();
  for (const [i, e] of memory.customs.entries()) {
    const { role, ...rest } = semantics[i] ?? {}, is = roles.has(role) ? { role, ...rest } : undefined;
    if (!is || role === "generic" || role === "none") {
      if (!memory.semantics.has(e)) memory.plain.add(e.$localName);
    } else if (JSON.stringify(is) !== JSON.stringify(memory.semantics.get(e))) {
      fresh = memory.anySemantics = true;
      memory.semantics.set(e, is);
      memory.watch?.look(e);
    }
  }
  return fresh;
}
