async function ({ list: which, move, gather, wait }) {
  // Scrolls a list or feed of this document, or looks at it again, and reports where it is and
  // what is still on its way. The list with the most to show is the first.
  const page = document.$scrollingElement ?? document.$documentElement;
  const room = (e) => e.$scrollHeight - e.$clientHeight;
  const { up, shown, framed } = library.visibility();
  const scrolls = (e) =>
    room(e) > 40 && e.$clientHeight > innerHeight / 10 && /auto|scroll/.test(getComputedStyle(e).overflowY) && shown(e);
  const search = (memory.search ??= { lists: [], roots: [], last: 0, seen: 0 });
  if (gather || !search.lists[which]?.$isConnected) { // the page may have redrawn them
    const inner = [];
    search.roots = [document];
    for (const root of search.roots) {
      for (const e of root.$querySelectorAll("*")) {
        const shadow = library.shadowOf(e);
        if (shadow) search.roots.push(shadow);
        if (e !== page && scrolls(e)) inner.push(e);
      }
    }
    const main = window === top,
      any = innerHeight > 0 && framed();
    search.lists =
      !any && !main
        ? []
        : [...(room(page) > 2 || (main && !inner.length) ? [page] : []), ...inner].sort((a, b) => room(b) - room(a));
    search.observer?.disconnect();
    search.observer = new MutationObserver((records) => {
      const { list } = search;
      if (
        !list ||
        records.some(
          ({ target }) => list === page || list.$contains(target) || target.$getRootNode() !== list.$getRootNode(),
        )
      )
        search.last = performance.now();
    });
    for (const root of search.roots)
      search.observer.observe(root, {
        subtree: true,
        childList: true,
        characterData: true,
        attributeFilter: ["aria-busy", "hidden"],
      });
  }
  const { lists } = search, list = lists[which];
  // A search that ends with its connection leaves no observer behind.
  clearTimeout(search.end);
  search.end = setTimeout(() => { search.observer?.disconnect(); memory.search = undefined; }, 15_000);
  if (gather || !list) return JSON.stringify({ lists: lists.length });
  const reverse =
    list !== page && /^(column-reverse|row-reverse)/.test(getComputedStyle(list).flexDirection) && list.$scrollTop <= 0;
  const y = () => list.$scrollTop + (reverse ? room(list) : 0);

  // The page draws in the next frame, and its script has had a task by the one after it. A
  // page that is not drawn has no frames.
  const frame = () => new Promise((done) => {
    const late = setTimeout(done, 100);
    requestAnimationFrame(() => { clearTimeout(late); setTimeout(done); });
  });
  const began = performance.now(), from = y(), height = list.$clientHeight;
  if (search.list !== list) {
    search.list = list;
    search.seen = search.last;
    // What is out of sight may load nothing.
    if (list !== page) list.$scrollIntoView({ block: "nearest", behavior: "instant" });
  }
  const to = { top: reverse ? -room(list) : 0, on: list.$scrollTop + Math.max(height - 10, height * 0.8) }[move];
  if (to !== undefined) list.$scrollTo({ top: to, behavior: "instant" });
  if (move === "stay") {
    // A busy page gets no less time than an idle one: it counts from when it is idle.
    while (search.last <= search.seen && performance.now() < began + wait)
      await new Promise((done) => setTimeout(done, 20));
    await new Promise((done) => requestIdleCallback(done, { timeout: 1000 }));
  } else await frame();
  let before;
  const until = performance.now() + 500; // some pages never stop to change
  do {
    before = performance.now();
    await frame();
  } while (search.last > before && performance.now() < until);

  const view =
    list === page ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : list.$getBoundingClientRect();
  const left = Math.max(0, view.left),
    right = Math.min(innerWidth, view.right),
    upper = Math.max(0, view.top),
    lower = Math.min(innerHeight, view.bottom);
  const { shown: shownNow } = library.visibility();
  const inView = (e) => {
    const box = e.$getBoundingClientRect();
    return box.bottom > upper && box.top < lower && box.right > left && box.left < right && shownNow(e);
  };
  const busy = () => {
    const marks = "[aria-busy=true], progress:not([value]), [role=progressbar]:not([aria-valuenow], progress)";
    for (let e = list; e; e = up(e)) if (e.$matches("[aria-busy=true]")) return true;
    return search.roots.some((root) => [...(root === document ? list : root).$querySelectorAll(marks)].some(inView));
  };

  // What has nothing to show yet has no text: rows that are drawn before they are loaded, and
  // the place of those that are not drawn.
  const drawn = /^(IMG|SVG|CANVAS|VIDEO|AUDIO|IFRAME|OBJECT|EMBED|INPUT|TEXTAREA|SELECT|BUTTON|HR|METER|PROGRESS)$/i;
  const filled = (x, y) => {
    let e = document.$elementFromPoint(x, y);
    for (
      let inner;
      (inner = e && library.shadowOf(e)?.$elementFromPoint(x, y)) && inner !== e;
    )
      e = inner;
    if (
      !e ||
      [...e.$childNodes].some((n) => n.$nodeType === 3 && n.$nodeValue.trim()) ||
      getComputedStyle(e).backgroundImage.includes("url(")
    )
      return true;
    for (; e && e !== list && e !== document.$body && e !== document.$documentElement; e = up(e)) {
      if (drawn.test(e.$nodeName) || e.$ownerSVGElement) return true;
      if (e.$offsetHeight > Math.max(48, (lower - upper) / 2)) continue;
      if (e.$textContent.trim() || e.$querySelector("img, svg, canvas, video, iframe, input, textarea, select, button"))
        return true;
    }
    return list !== page && e !== list; // it lies over the list
  };
  const blank = () => {
    const step = Math.max(16, (lower - upper) / 32);
    let run = 0, most = 0, all = true, any = false;
    for (let at = upper + step / 2; at < lower; at += step) {
      any = true;
      const has = [0.06, 0.15, 0.3, 0.5, 0.7, 0.9].some((part) => filled(left + (right - left) * part, at));
      all = all && !has;
      run = has ? 0 : run + step;
      most = Math.max(most, run);
    }
    return any && all ? "all" : most >= 32 ? "some" : "";
  };
  const changed = search.last > search.seen;
  search.seen = search.last;
  const end = y() >= room(list) - 2 || move === "on" && y() <= from;
  return JSON.stringify({ y: y(), room: room(list), end, lists: lists.length, changed, busy: busy(), blank: blank() });
}
