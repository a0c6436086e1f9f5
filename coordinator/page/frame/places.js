function (numbers = []) {
  // Where numbered elements are shown now: [number, place], in the topmost document
  // that can be reached (see climb). What is covered, or scrolled out of a frame, is left out.
  const { shown: isShown, inView } = library.visibility();
  const shown = (e) => {
    const first = e.$getClientRects()[0], r = first && inView(e, first);
    if (!r || !isShown(e)) return false;
    const x = r.x + r.width / 2, y = r.y + r.height / 2;
    // A picture of the whole page has it.
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return window === window.top;
    const hit = e.$getRootNode().$elementFromPoint(x, y);
    return !hit || hit.$contains(e) || e.$contains(hit) || hit.$closest("label")?.$control === e || !!library.shadowOf(e);
  };
  const found = numbers
    .map((n) => [n, memory.elements?.get(n)?.deref()])
    .filter(([, e]) => e?.$isConnected && shown(e));
  const place = (e) => inView(e, e.$getBoundingClientRect());
  return JSON.stringify(found.map(([n, e]) => ({ n, ...library.climb(library.corners(place(e)), window) })));
}
