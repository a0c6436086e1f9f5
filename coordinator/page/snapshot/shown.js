function ({ texts }) {
  // Which of the texts no user sees in this element (or in the document), and which of those
  // are there nevertheless.
  const top = this instanceof Element ? this : document.$documentElement, { plain, shownText } = library;
  const seen = shownText(top, { strict: true }), missing = texts.filter((t) => !seen.includes(plain(t)));
  const all = missing.length ? shownText(top, { options: true }) : "";
  return JSON.stringify({ missing, unseen: missing.filter((t) => all.includes(plain(t))) });
}
