function () {
  // Where the element is in the topmost document of this process, scrolled into
  // view.
  if (!this.isConnected) return { gone: true };
  this.scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
  const r = this.getBoundingClientRect();
  let x = r.left, y = r.top, w = window;
  for (;;) {
    let owner = null;
    try { owner = w.frameElement; } catch { }
    if (!owner) break;
    const o = owner.getBoundingClientRect(), style = owner.ownerDocument.defaultView.getComputedStyle(owner);
    x += o.left + owner.clientLeft + parseFloat(style.paddingLeft);
    y += o.top + owner.clientTop + parseFloat(style.paddingTop);
    w = w.parent;
  }
  return { x, y, width: r.width, height: r.height, top: w === w.parent };
}
