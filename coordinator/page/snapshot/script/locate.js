function () {
  // What a test can find this element by, besides its role: only what finds
  // nothing else in the document.
  const e = this;
  const roots = (root) => [
    root,
    ...[...root.$querySelectorAll("*")].map(library.shadowOf).filter(Boolean).flatMap(roots),
  ];
  const all = roots(document);
  const count = (selector) => all.reduce((n, r) => n + r.$querySelectorAll(selector).length, 0);
  const only = (name) => {
    const value = e.$getAttribute(name);
    return value && count(`[${name}=${CSS.escape(value)}]`) === 1 ? value : "";
  };
  const squash = (s) => s.replace(/\s+/g, " ").trim();
  const label = e.$labels?.length ? squash(e.$labels[0].$textContent) : "";
  const labels = all
    .flatMap((r) => [...r.$querySelectorAll("label")])
    .filter((l) => squash(l.$textContent).toLowerCase().includes(label.toLowerCase()));
  function path(n) {
    if (n.$id && count("#" + CSS.escape(n.$id)) === 1) return "#" + CSS.escape(n.$id);
    const parent = n.$parentNode, tag = n.$localName;
    if (parent instanceof ShadowRoot) return path(parent.$host) + " " + nth(n, tag, parent);
    if (!parent || n === document.$body || n === document.$documentElement) return tag;
    return path(parent) + " > " + nth(n, tag, parent);
  }
  function nth(n, tag, parent) {
    const same = [...parent.$children].filter((c) => c.$localName === tag);
    return same.length === 1 ? tag : `${tag}:nth-of-type(${same.indexOf(n) + 1})`;
  }
  return {
    testId: only("data-testid"),
    placeholder: only("placeholder"),
    label: label && labels.length === 1 ? label : "",
    alt: only("alt"),
    title: only("title"),
    css: path(e),
  };
}
