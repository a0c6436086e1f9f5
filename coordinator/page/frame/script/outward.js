async function ({ x, y }) {
  // this is the frame element; the point is inside of its content. Where the
  // point is not in view, the window is scrolled: a frame of another process
  // cannot do that itself in time.
  const describe = (e) => "<" + e.$localName + (e.$id ? ` id="${e.$id}"` : "") + ">";
  const frame = () => new Promise((done) => {
    requestAnimationFrame(done);
    setTimeout(done, 100);
  });
  let owner = this, w = window;
  for (let up = 0; ; up++) {
    const inner = { x, y };
    const move = () => {
      ({ x, y } = library.ofContent.call(owner, inner));
      return owner.$getRootNode().$elementFromPoint(x, y);
    };
    let found = move(), scrolled = false;
    if (found !== owner) {
      scrolled = true;
      owner.$scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
      found = move();
    }
    if (!found) {
      w.scrollBy({ behavior: "instant", left: x - w.innerWidth / 2, top: y - w.innerHeight / 2 });
      found = move();
    }
    if (found !== owner) {
      return {
        covered: found
          ? "its frame is covered by " + describe(found)
          : "its frame is outside of what can be scrolled into view",
      };
    }
    // The browser finds the frame at a point by what was drawn last.
    if (scrolled) {
      await frame();
      await frame();
      found = move();
    }
    const next = library.owner(w);
    if (!next) return { x, y, up, top: w === w.parent };
    owner = next;
    w = w.parent;
  }
}
