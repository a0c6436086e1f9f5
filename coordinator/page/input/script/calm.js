function () {
  // Watches whether the page may still make this element ready by itself: it changes, loads,
  // says that it is busy, or an animation ends, or runs on what is in the way. How long none
  // of that has been so, in milliseconds, is what time(cover) returns.
  let since = performance.now(), quiet = 0, left = 6;
  const observer = new MutationObserver(() => {
    if (performance.now() < quiet) return;
    since = performance.now();
    left = 3;
  });
  const documents = [], observed = new Set();
  const observe = (root) => {
    if (observed.has(root)) return;
    observed.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  };
  const observeRoots = (e) => {
    for (let root = e.$getRootNode(); root.$host; root = root.$host.$getRootNode()) observe(root);
  };
  for (let w = window, owner = this; owner; owner = library.owner(w), w = w.parent) {
    documents.push(owner.$ownerDocument);
    observe(owner.$ownerDocument);
    observeRoots(owner);
  }
  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host ?? null;
  const within = (outer, n) => {
    for (; n; n = parentOf(n)) if (n === outer) return true;
    return false;
  };
  // all is the whole of what covers this: a spinner may be beside what is hit in it.
  const all = (cover) => {
    for (let n = cover; n && !within(n, this); n = parentOf(n)) cover = n;
    return cover;
  };
  const animates = (a, inTheWay) => {
    const of = a.effect?.target;
    if (a.playState !== "running" || !of) return false;
    const ends = a.effect.getComputedTiming().endTime !== Infinity && a.timeline === of.$ownerDocument.$timeline;
    return ends || inTheWay.some((e) => within(e, of));
  };
  return {
    time: (cover) => {
      if (cover) observeRoots(cover);
      const inTheWay = cover ? [this, all(cover)] : [this];
      const stirs = documents.some(
        (d) =>
          d.$readyState !== "complete" ||
          d.$querySelector("[aria-busy=true]") ||
          d.$getAnimations().some((a) => animates(a, inTheWay)),
      );
      if (stirs) since = performance.now();
      return performance.now() - since;
    },
    stir: () => { since = performance.now(); },
    // scrolls reports whether to scroll once more: so many times, and a few after each change.
    // What changes until the next frame may come of that.
    scrolls: () => {
      if (left <= 0) return false;
      left--;
      quiet = performance.now() + 50;
      return true;
    },
    end: () => observer.disconnect(),
  };
}
