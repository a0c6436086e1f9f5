function (corners, w) {
  // Where corners in a window are in the topmost document that can be reached from it: a
  // document of another origin cannot, even in the same process. up counts the frames.
  let up = 0;
  for (;; up++) {
    const owner = library.owner(w);
    if (!owner) break;
    corners = corners.map((corner) => library.ofContent.call(owner, corner));
    w = w.parent;
  }
  const xs = corners.map((c) => c.x), ys = corners.map((c) => c.y), x = Math.min(...xs), y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y, up, top: w === w.parent };
}
