function (selector, hidden) {
  // One element, null for none, or why the selector is unusable, as a string. hidden: which
  // hidden elements it matches by their text or role, as a string.
  const shadowOf = (e) => e.shadowRoot ?? globalThis.closedRoots?.get(e);
  // below are a root or element and the shadow roots in it.
  const below = (n) => [n, ...[n, ...n.querySelectorAll("*")].map(shadowOf).filter(Boolean).flatMap(below)];
  let exact = false, pattern; // of a name
  const one = /^(.+\))\.(first|last|nth)\((\d*)\)$/s.exec(selector);
  if (one) selector = `${one[1]} >> nth=${{ first: 0, last: -1, nth: one[3] }[one[2]]}`;
  const [, only, nth] = /^(.+?)\s*>>\s*nth=(-?\d+)$/s.exec(selector) ?? []; // one of several, as Playwright writes it
  const written = only ?? selector;
  selector = inOurWords(written);
  if (selector === null) return hidden ? "" : "is a locator that is not known here: a target is a ref as e5, CSS, text=Save, or getByRole('button', { name: 'Save' }), with exact";
  const wordy = /^(text|role|label)=|^[a-z-]+ "/.test(selector);
  if (hidden) return wordy ? concealed(worded() ?? []) : "";
  const by = wordy ? worded() : /^(xpath=|\(*\/\/)/.test(selector) ? paths() : /.:has-text\(/.test(selector) ? having() : null;
  let found;
  if (by) found = by;
  else try {
    found = below(document).flatMap((root) => [...root.querySelectorAll(selector)]);
  } catch (e) {
    return "is neither a ref nor a selector: a ref is e5, a selector CSS, text=Save or role=button[name=\"Save\"]";
  }
  if (!found.length && !by) found = pierced();
  if (nth !== undefined) return found.at(Number(nth)) ?? null;
  if (found.length > 1) {
    const { displayed, collapsed } = library.visibility();
    const visible = found.filter((e) => displayed(e) && !collapsed(e));
    if (visible.length === 1) return visible[0];
    return `matches ${found.length} elements: make it unique, or take a snapshot and use a ref`;
  }
  return found[0] ?? null;

  // inOurWords is a locator of Playwright's in the form that worded takes, or as CSS; null: it
  // has something that is not known here.
  function inOurWords(s) {
    if (!/^(?:page\.)?(?:getBy|locator\()/.test(s)) return s;
    const [, how, , what, rest = ""] = /^(?:page\.)?(?:getBy(?=Role|Text|Label|Placeholder|TestId|Title|AltText))?(Role|Text|Label|Placeholder|TestId|Title|AltText|locator)\((["'`])((?:(?!\2).)*)\2\s*(?:,\s*\{(.*)\})?\s*\)$/s.exec(s) ?? [];
    const option = /\s*(?:(?<name>name)\s*:\s*(?:(["'`])(?<text>(?:(?!\2).)*)\2|\/(?<source>(?:[^/\\]|\\.)+)\/(?<flags>[a-z]*))|exact\s*:\s*(?<exact>true|false))\s*(?:,|$)/sy;
    let name;
    for (let at = 0; rest.slice(at).trim(); at = option.lastIndex) {
      option.lastIndex = at;
      const given = option.exec(rest)?.groups;
      if (!given || (given.name && how !== "Role")) return null;
      if (given.exact) exact = given.exact === "true";
      if (given.text !== undefined) name = given.text;
      if (given.source) try { pattern = new RegExp(given.source, given.flags.replace(/[gy]/g, "")); } catch { return null; }
    }
    const attribute = (of) => `[${of}${exact ? "=" : "*="}${JSON.stringify(what)}${exact ? "" : " i"}]`;
    switch (how) {
    case "Role": return `role=${what}` + (name === undefined ? "" : `[name="${name}"]`);
    case "Text": return exact ? `text="${what}"` : "text=" + what;
    case "Label": return "label=" + what;
    case "TestId": return `[data-testid=${JSON.stringify(what)}]`;
    case "Placeholder": return attribute("placeholder");
    case "Title": return attribute("title");
    case "AltText": return attribute("alt");
    case "locator": return rest ? null : what;
    }
    return null;
  }

  // paths finds what an XPath selects in the document.
  function paths() {
    try {
      const all = document.evaluate(selector.replace(/^xpath=/, ""), document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
      return Array.from({ length: all.snapshotLength }, (_, i) => all.snapshotItem(i)).filter((n) => n.nodeType === 1);
    } catch {
      return null;
    }
  }

  // having finds what a selector of CSS matches and has a text: Playwright's button:has-text("Save").
  function having() {
    const { squash } = library.naming();
    const [, css, , text] = /^(.+):has-text\((["'])(.*)\2\)$/s.exec(selector) ?? [];
    if (!css) return null;
    try {
      return below(document).flatMap((root) => [...root.querySelectorAll(css)]).filter((e) => squash(e.textContent).toLowerCase().includes(squash(text).toLowerCase()));
    } catch {
      return null;
    }
  }

  // worded finds the visible elements of a text (text=Save, text="Save" exactly), or of a
  // role and name (role=button[name="Save"], or button "Save" as in a snapshot). A part of a
  // name, in any case, counts where no name is the same.
  function worded() {
    const { squash, roleOf, nameOf, skipped } = library.naming(), { shown } = library.visibility(), counts = (e) => shown(e) === !hidden;
    const all = below(document).flatMap((root) => [...root.querySelectorAll("*")]).filter((e) => !skipped.has(e.nodeName));
    const holding = (some, of, wanted) => some.filter((e) => of(e).toLowerCase().includes(wanted.toLowerCase()));
    const named = (some, of, wanted) => {
      const same = some.filter((e) => of(e) === wanted);
      return same.length || exact ? same : holding(some, of, wanted);
    };
    if (selector.startsWith("text=")) {
      const [, quoted] = /^text=(["'])(.*)\1$/s.exec(selector)?.slice(1) ?? [];
      const wanted = squash(quoted ?? selector.slice(5));
      const of = (e, text) => squash(e.nodeName === "INPUT" ? (/^(button|submit|reset)$/.test(e.type) ? e.value : "") : text(e));
      const visible = (e) => (hidden ? e.textContent : visibleText(e, shown));
      const fits = (e) => quoted === undefined ? of(e, visible).toLowerCase().includes(wanted.toLowerCase()) : of(e, visible) === wanted;
      const smallest = [];
      for (const e of holding(all, (e) => of(e, (e) => e.textContent), wanted).reverse()) { // what is inside comes first
        if (counts(e) && !smallest.some((inner) => e.contains(inner)) && fits(e)) smallest.unshift(e);
      }
      return smallest;
    }
    const labelled = (e) => e.matches("input, select, textarea, button, [contenteditable], [role]") && counts(library.standIn.call(e, shown));
    if (selector.startsWith("label=")) return named(all.filter(labelled), (e) => squash(nameOf(e, roleOf(e))), squash(selector.slice(6)));
    const [, written, , name] = /^role=([a-z-]+)(?:\[name=(["']?)(.*)\2\])?$/s.exec(selector) ?? /^([a-z-]+)( )"(.*)"$/s.exec(selector) ?? [];
    if (!written) return null;
    const role = { gridcell: "cell", image: "img" }[written] ?? written;
    const texts = ["cell", "columnheader", "rowheader", "row", "listitem"].includes(role); // a snapshot has no name of them
    const some = all.filter((e) => roleOf(e) === role && counts(library.standIn.call(e, shown)));
    const of = (e) => squash(nameOf(e, role) || (hidden ? e.textContent : texts ? visibleText(e, shown) : ""));
    if (pattern) return some.filter((e) => pattern.test(of(e)));
    return name === undefined ? some : named(some, of, squash(name.replace(/\\(["'\\])/g, "$1")));
  }

  // concealed names the first of hidden elements, and what may show it.
  function concealed([e, ...more]) {
    if (!e) return "";
    const { squash, limit } = library.naming(), opener = library.opener(e);
    const rest = more.length ? ` and ${more.length} more` : "";
    return `<${e.localName}${e.id ? ` id="${e.id}"` : ""}> "${limit(squash(e.textContent), 40)}"${rest}${opener ? `: ${opener} may show it` : ""}`;
  }

  // visibleText is the text of an element without what is hidden in it.
  function visibleText(e, shown) {
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
    let s = "";
    while (texts.nextNode()) {
      const holder = texts.currentNode.parentElement;
      const closed = holder.nodeName === "DETAILS" && !holder.open;
      if (!closed && shown(holder)) s += texts.currentNode.nodeValue;
    }
    return s;
  }

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
