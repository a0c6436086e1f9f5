function ({ left, top, right, bottom }) {
  // Where the pointer acts on this element in this part of it: in the middle. If a control in
  // the element is there, as an item in a tree item, that would act instead: then at the
  // element's own text, or at its edge. by is that control if there is no such point here;
  // only is set if the element is a control too, so that the middle does not act on it.
  const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
  const { roleOf, actionable, namedByContent, flat, skipped } = library.naming();
  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host;
  const drawn = ["CANVAS", "VIDEO", "AUDIO"];
  const isControl = (n) =>
    n.$nodeType === 1 &&
    !drawn.includes(n.$nodeName) &&
    (n.$nodeName === "LABEL" ? n.$control && n.$control !== this : actionable.has(roleOf(n)));
  const hit = (x, y, root = this.$getRootNode()) => {
    const found = root.$elementFromPoint(x, y);
    const shadow = found && library.shadowOf(found);
    return (shadow && shadow !== root && hit(x, y, shadow)) || found;
  };
  // inner is the outermost control in this element that a node is part of: null for none,
  // undefined if the node is not in this element.
  const inner = (n) => {
    for (let found = null; n; n = parentOf(n)) {
      if (n === this) return found;
      if (isControl(n)) found = n;
    }
  };
  function* texts(n, own) {
    for (const c of flat(n)) {
      if (c.$nodeType === 3 && c.$nodeValue.trim()) yield c;
      else if (c.$nodeType === 1 && !skipped.has(c.$nodeName) && !(own && isControl(c))) yield* texts(c, own);
    }
  }
  const centre = (text) => {
    const range = document.$createRange();
    range.selectNodeContents(text);
    const r = [...range.getClientRects()].find((r) => r.width > 0 && r.height > 0);
    return r && { x: r.left + r.width / 2, y: r.top + r.height / 2 };
  };
  try {
    const role = roleOf(this), only = actionable.has(role) && namedByContent.has(role);
    if (this.$nodeName === "LABEL" || !only && !this.$hasAttribute("onclick")) return middle;
    const by = inner(hit(middle.x, middle.y));
    if (!by) return middle;
    // A control that holds or covers the first text stands for the whole element, as the
    // link of a menu item does; an item of a nested list does not.
    const item = /^(tree|menu)item/;
    if (!(item.test(role) && item.test(roleOf(by)))) {
      const first = texts(this, false).next().value, at = first && centre(first);
      if (!first || inner(first) === by || at && inner(hit(at.x, at.y)) === by) return middle;
    }
    const points = [...texts(this, true)].slice(0, 20).map(centre);
    for (const x of [left + 2, right - 2, middle.x])
      for (const y of [top + 2, middle.y, bottom - 2]) points.push({ x, y });
    const own = points.find(
      (p) => p && p.x >= left && p.x < right && p.y >= top && p.y < bottom && inner(hit(p.x, p.y)) === null,
    );
    return own ?? { ...middle, by, only };
  } catch {
    return middle; // as in identify in naming.js
  }
}
