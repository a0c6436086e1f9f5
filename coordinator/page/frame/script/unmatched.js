function (selector) {
  // What to say of a selector that matches nothing: which hidden elements it matches by their
  // text or role, and what may show the first of them; or which element has it as its text.
  const { squash, limit, labelOf, named } = library.naming();
  const hidden = library.matching(selector, true), [e, ...more] = hidden;
  if (typeof hidden !== "string" && e && !library.visibility().shown(e)) {
    const opener = library.opener(e), rest = more.length ? ` and ${more.length} more` : "";
    const tag = `<${e.$localName}${e.$id ? ` id="${e.$id}"` : ""}>`, text = limit(squash(e.$textContent), 40);
    return ` that is shown, only hidden: ${tag} "${text}"${rest}${opener ? `: ${opener} may show it` : ""}`;
  }
  if (!/^\p{L}[\p{L}\p{N} .,!?'’-]*$/u.test(selector)) return "";
  for (const how of ["text=", "label="]) {
    const [found] = library.matching(how + selector);
    // A label stands for its field, and takes no text itself.
    if (found instanceof Element)
      return `: ${found.$control ? "give" : `${how}${selector} is`} ${labelOf(named(found.$control ?? found))}`;
  }
  return "";
}
