function ({ x, y }) {
  // Where a point of this frame's content is in the document of the frame
  // element, which may be scaled, turned or zoomed. Such a change keeps the middle
  // of a box in the middle of its bounding box, so no origins have to be known.
  const r = this.$getBoundingClientRect(), w = this.$ownerDocument.$defaultView, style = w.getComputedStyle(this);
  x += this.$clientLeft + parseFloat(style.paddingLeft);
  y += this.$clientTop + parseFloat(style.paddingTop);
  let m = new DOMMatrix();
  for (let e = this; e; e = e.$assignedSlot ?? e.$parentElement ?? e.$getRootNode().$host) {
    const s = w.getComputedStyle(e);
    if (s.transform === "none" && s.rotate === "none" && s.scale === "none") continue;
    const own = new DOMMatrix();
    if (s.rotate !== "none") own.multiplySelf(new DOMMatrix("rotate(" + s.rotate.split(" ").pop() + ")"));
    if (s.scale !== "none") own.multiplySelf(new DOMMatrix("scale(" + s.scale.split(" ").slice(0, 2).join(",") + ")"));
    if (s.transform !== "none") own.multiplySelf(new DOMMatrix(s.transform));
    m = own.multiply(m);
  }
  const zoom = this.$currentCSSZoom ?? 1;
  const { a, b, c, d } = m;
  if (a === 1 && b === 0 && c === 0 && d === 1 && zoom === 1) return { x: r.left + x, y: r.top + y };
  x = (x - this.$offsetWidth / 2) * zoom;
  y = (y - this.$offsetHeight / 2) * zoom;
  return { x: r.left + r.width / 2 + a * x + c * y, y: r.top + r.height / 2 + b * x + d * y };
}
