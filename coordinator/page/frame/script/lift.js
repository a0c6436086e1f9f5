function ({ x, y, width, height }) {
  // this is a frame element whose content is of another process: where a place in
  // it is in the topmost document of this process.
  let corners = [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
  let owner = this, w = window;
  for (;;) {
    corners = corners.map((corner) => library.ofContent.call(owner, corner));
    let next = null;
    try { next = w.frameElement; } catch { }
    if (!next) break;
    owner = next;
    w = w.parent;
  }
  const xs = corners.map((c) => c.x), ys = corners.map((c) => c.y), left = Math.min(...xs), top = Math.min(...ys);
  return { x: left, y: top, width: Math.max(...xs) - left, height: Math.max(...ys) - top, top: w === w.parent };
}
