function (selector, hidden) {
  // The elements of this document and its shadow roots that a selector matches, or why it is
  // unusable, as a string. hidden: by a text or role those that are not shown, in place of
  // those that are.
  const unusable =
    'is neither a ref nor a selector: a ref is e5, a selector CSS, text=Save or role=button[name="Save"]';
  const unknown =
    "is a locator that is not known here: a target is a ref as e5, CSS, text=Save, " +
    "or getByRole('button', { name: 'Save' }), with exact";
  const { shown } = library.visibility(),
    { squash } = library.naming();
  const own = /(?<!\\):(?:(?:has-text|text|text-is)\(|visible\b)/; // pseudo-classes of Playwright
  // below are a root or element and the shadow roots in it.
  const below = (n) => [n, ...[n, ...n.$querySelectorAll("*")].map(library.shadowOf).filter(Boolean).flatMap(below)];
  const within = (roots, css) => roots.flatMap(below).flatMap((root) => [...root.$querySelectorAll(css)]);

  const one = /^(.+\))\.(first|last|nth)\((\d*)\)$/s.exec(selector);
  if (one) selector = `${one[1]} >> nth=${{ first: 0, last: -1, nth: one[3] }[one[2]]}`;
  // Each part of a chain selects in what the part before has found.
  let found = [document];
  const parts = split(selector, ">>");
  for (const [i, part] of parts.entries()) {
    const nth = /^nth=(-?\d+)$/.exec(part);
    if (nth || part === "visible=true") {
      found = nth ? [found.at(Number(nth[1]))].filter(Boolean) : found.filter((e) => e !== document && shown(e));
      continue;
    }
    const locator = library.locator(part);
    if (!locator) return unknown;
    const { selector, ...how } = locator;
    try {
      if (/^(text|role|label|name)=|^[a-z-]+ "/.test(selector))
        found = library.worded(selector, {
          ...how,
          hidden,
          every: /^nth=/.test(parts[i + 1]),
          among: amid(found, selector),
        });
      else if (/^(xpath=|\(*\/\/)/.test(selector))
        found = found.flatMap((n) => paths(selector.replace(/^xpath=/, ""), n));
      else found = styled(selector, found);
    } catch (e) {
      if (!(e instanceof DOMException)) throw e; // it is our own
      found = null;
    }
    if (!found) return unusable;
    found = [...new Set(found)];
  }
  return found[0] === document ? unusable : found;

  // amid are the elements in what was found; for a text also those themselves.
  function amid(roots, selector) {
    const themselves = selector.startsWith("text=") && roots[0] !== document ? roots : [];
    return [...new Set([...themselves, ...within(roots, "*")])];
  }

  function paths(path, root) {
    const all = document.$evaluate(path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    return Array.from({ length: all.snapshotLength }, (_, i) => all.snapshotItem(i)).filter((n) => n.$nodeType === 1);
  }

  // split takes a selector apart, but not in quotes and brackets. An apostrophe is no quote, nor
  // are inches.
  function split(s, separator) {
    const parts = [""];
    let depth = 0, quote = "";
    for (let i = 0; i < s.length; i++) {
      const c = s[i];
      if (quote) quote = c === quote ? "" : quote;
      else if (`"'`.includes(c) && !/\w/.test(s[i - 1] ?? "")) quote = c;
      else if ("([".includes(c)) depth++;
      else if (")]".includes(c)) depth = Math.max(0, depth - 1);
      else if (!depth && s.startsWith(separator, i)) {
        parts.push("");
        i += separator.length - 1;
        continue;
      }
      parts[parts.length - 1] += c;
    }
    return parts.map((part) => part.trim());
  }

  // styled finds what a selector of CSS matches in roots. It may have Playwright's
  // :has-text("Save"), :text("Save"), :text-is("Save") and :visible.
  function styled(css, roots) {
    if (!own.test(css)) return plain(css, roots);
    const list = split(css, ",");
    if (list.length > 1) {
      const follows = (a, b) => a.$compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
      return list.flatMap((one) => styled(one, roots)).sort((a, b) => (follows(a, b) ? -1 : 1));
    }
    let rest = "", found = roots;
    for (const { combinator, native, tests } of compounds(css)) {
      rest += combinator + native;
      if (!tests.length) continue;
      found = plain(native ? rest : rest + "*", found).filter((e) => tests.every((test) => test(e)));
      rest = "";
    }
    return rest ? plain(rest, found) : found;
  }

  // compounds takes a selector apart at its combinators, and Playwright's own pseudo-classes
  // out of the parts.
  function compounds(css) {
    const token =
      /\s*([>+~\s])\s*|(?<!\\):visible\b|(?<!\\):(has-text|text-is|text)\(\s*(["'])(.*?)\3\s*\)|((?:\\.|[^\s>+~:"'[(\\]|:(?!visible\b|has-text\(|text\(|text-is\()|\[(?:"[^"]*"|'[^']*'|[^\]])*\]|\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\))+)/sy;
    const all = [{ combinator: "", native: "", tests: [] }];
    css = css.trim();
    while (token.lastIndex < css.length) {
      const found = token.exec(css);
      if (!found) return [{ combinator: "", native: css, tests: [] }]; // the browser knows what is wrong
      const [, combinator, how, , words, native] = found, last = all.at(-1);
      if (combinator) all.push({ combinator, native: "", tests: [] });
      else if (native) last.native += native;
      else last.tests.push(how ? texted(how, squash(words).toLowerCase()) : shown);
    }
    return all;
  }
  function texted(how, words) {
    const text = (e) => squash(e.$textContent).toLowerCase(),
      has = how === "text-is" ? (e) => text(e) === words : (e) => text(e).includes(words);
    return how === "has-text" ? has : (e) => has(e) && ![...e.$querySelectorAll(":scope > *")].some(has);
  }

  // plain finds what the browser's own selectors match in roots.
  function plain(css, roots) {
    css = css.trim();
    const scoped = roots[0] !== document;
    if (scoped && /^[+~]/.test(css)) throw new DOMException("there is no such selector");
    const found = roots.flatMap((root) => below(root).flatMap((r) => {
      if (scoped && r === root) return [...r.$querySelectorAll(":scope " + css)];
      return css.startsWith(">") ? [] : [...r.$querySelectorAll(css)];
    }));
    return found.length || scoped ? found : pierced(css);
  }

  // pierced finds "a b" where shadow roots stand between a and b, as Playwright does.
  function pierced(css) {
    if (split(css, ",").length > 1) return [];
    const parts = [];
    for (const { combinator, native } of compounds(css)) {
      if (combinator.trim()) parts[parts.length - 1] += combinator + native;
      else parts.push(native);
    }
    let found = [document];
    for (const part of parts) found = [...new Set(within(found, part))];
    return parts.length > 1 ? found : [];
  }
}
