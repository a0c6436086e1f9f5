function () {
  // The HTML of this element (or of the document), shadow roots as declarative
  // templates.
  const root = this instanceof Element ? this : document.$documentElement;
  const roots = [];
  const collect = (n) => {
    const shadow = library.shadowOf(n);
    if (shadow) {
      roots.push(shadow);
      for (const e of shadow.$querySelectorAll("*")) collect(e);
    }
  };
  collect(root);
  for (const e of root.$querySelectorAll("*")) collect(e);
  if (!roots.length) return root.$outerHTML;
  const outer = root.$cloneNode(false).$outerHTML, end = `</${root.$localName}>`;
  return outer.slice(0, -end.length) + root.$getHTML({ shadowRoots: roots }) + end;
}
