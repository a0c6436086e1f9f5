function (where) {
  // Where the element is in the topmost document of this process, scrolled into
  // view: to that part of it, where it was not wholly there.
  if (!this.isConnected) return { gone: true };
  const place = () => {
    const r = this.getBoundingClientRect();
    let corners = [{ x: r.left, y: r.top }, { x: r.right, y: r.top }, { x: r.right, y: r.bottom }, { x: r.left, y: r.bottom }], w = window;
    for (;;) {
      let owner = null;
      try { owner = w.frameElement; } catch { }
      if (!owner) break;
      corners = corners.map((corner) => library.ofContent.call(owner, corner));
      w = w.parent;
    }
    const xs = corners.map((c) => c.x), ys = corners.map((c) => c.y), x = Math.min(...xs), y = Math.min(...ys);
    return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y, top: w === w.parent };
  };
  const scroll = (where) => {
    this.scrollIntoView({ behavior: "instant", block: where, inline: where });
    return place();
  };
  const before = place(), there = scroll("nearest");
  return where === "nearest" || there.x === before.x && there.y === before.y ? there : scroll(where);
}
