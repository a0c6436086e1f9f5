function ({ texts }) {
  // Which of the texts are not shown below this element (or in the document):
  // compared without regard to case and white space, in the smallest element
  // that holds them, open shadow roots included.
  const squash = (s) => s.replace(/[\u00ad\u200b]/g, "").replace(/\s+/g, " ").trim().toLowerCase();
  const top = this instanceof Element ? this : document.documentElement;
  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "HEAD", "TEMPLATE"]);
  const visible = (e) => e.checkVisibility({ visibilityProperty: true }) && [...e.getClientRects()].some((r) => r.width > 0 && r.height > 0);
  const roots = [top];
  const collect = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (!e.shadowRoot) continue;
      roots.push(e.shadowRoot);
      collect(e.shadowRoot);
    }
  };
  if (top.shadowRoot) {
    roots.push(top.shadowRoot);
    collect(top.shadowRoot);
  }
  collect(top);
  const inside = (e, wanted) => {
    let deeper = false;
    for (const child of e.children) {
      if (skipped.has(child.nodeName) || !squash(child.textContent).includes(wanted)) continue;
      deeper = true;
      if (inside(child, wanted)) return true;
    }
    return !deeper && e instanceof Element && squash(e.innerText ?? e.textContent).includes(wanted) && visible(e);
  };
  const onButton = (root, wanted) =>
    [...root.querySelectorAll("input[type=button], input[type=submit], input[type=reset]")].some((e) => squash(e.value).includes(wanted) && visible(e));
  const shown = (wanted) => roots.some((r) => inside(r, wanted) || onButton(r, wanted));
  return JSON.stringify(texts.filter((t) => !shown(squash(t))));
}
