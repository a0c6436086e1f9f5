function ({ x, y }) {
  // this is the frame element; the point is inside of its content.
  const describe = (e) => "<" + e.localName + (e.id ? ` id="${e.id}"` : "") + ">";
  let owner = this, w = window;
  for (;;) {
    const r = owner.getBoundingClientRect(), style = w.getComputedStyle(owner);
    x += r.left + owner.clientLeft + parseFloat(style.paddingLeft);
    y += r.top + owner.clientTop + parseFloat(style.paddingTop);
    const found = owner.getRootNode().elementFromPoint(x, y);
    if (found !== owner) {
      return { covered: found ? "its frame is covered by " + describe(found) : "its frame is outside of what can be scrolled into view" };
    }
    let next = null;
    try { next = w.frameElement; } catch { }
    if (!next) return { x, y, top: w === w.parent };
    owner = next;
    w = w.parent;
  }
}
