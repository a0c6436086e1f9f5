function () {
  // Finds what a page has drawn anew as it was, so that its refs stay valid: the same role, name
  // and place. It keeps the numbered elements that were removed, by what they were in, until the
  // next look. A ref never goes to an element that could be another one: where two are alike, or
  // where what is around a control is no longer the same, there are new refs.
  const MAX_REMOVED = 2000, MAX_VISITED = 20000, MAX_ELEMENTS = 5000, MAX_HEADINGS = 200;
  const { numbers, elements, called } = memory;
  const { skipped, squash } = library.naming();
  const removed = new Map(); // {records, all}
  let since = new WeakSet(); // what was added after that
  let count = 0, visited = 0;

  const holds = (e) => {
    if (numbers.has(e)) return true;
    const inner = e.$firstElementChild ? e.$querySelectorAll("*") : [];
    visited += inner.length;
    return [...inner].some((c) => numbers.has(c) || library.shadowOf(c));
  };
  // note keeps the elements that this record of a mutation has removed.
  function note({ target, addedNodes, removedNodes }) {
    for (const n of removed.size ? addedNodes : []) since.add(n);
    if (!removedNodes.length || count > MAX_REMOVED || visited > MAX_VISITED) return;
    const gone = [...removedNodes].filter(
      (n) => n.$nodeType === 1 && !n.$isConnected && !skipped.has(n.$nodeName) && !since.has(n),
    );
    if (!gone.length || (!removed.has(target) && !gone.some(holds))) return;
    if (!removed.has(target)) removed.set(target, { records: 0, all: new Set() });
    const of = removed.get(target);
    of.records++;
    for (const e of gone) of.all.add(e);
    for (const n of addedNodes) since.add(n);
    count += gone.length;
  }

  // What a state or a style is, and where an item is in a list, is not what an element is.
  const states =
    /^(class|style|tabindex|disabled|checked|selected|open|hidden|readonly|aria-(selected|checked|expanded|current|pressed|busy|disabled|invalid|hidden|posinset|setsize|rowindex|sort|activedescendant|valuenow|valuetext))$/;
  const typed = (e) =>
    e.$nodeName === "TEXTAREA" ||
    (e.$nodeName === "INPUT" && !/^(hidden|radio|checkbox|submit|button|reset|image)$/.test(e.$type));
  const attributesOf = (e) =>
    [...e.$attributes]
      .filter((a) => !states.test(a.name) && !(a.name === "value" && typed(e)))
      .map((a) => `${a.name}=${JSON.stringify(a.value)}`)
      .sort()
      .join(" ");
  const headOf = (e) => `${e.$nodeName} ${attributesOf(e)}`;
  const nodesOf = (e) =>
    (typed(e) ? [] : [...(e.$shadowRoot?.$childNodes ?? []), ...e.$childNodes]).filter((n) =>
      n.$nodeType === 3 ? n.$nodeValue.trim() : n.$nodeType === 1 && !skipped.has(n.$nodeName),
    );
  const elementsOf = (e) => nodesOf(e).filter((n) => n.$nodeType === 1);
  // What these show is in no attribute and no text.
  const opaque = /^(IFRAME|FRAME|OBJECT|EMBED|CANVAS|VIDEO|AUDIO)$/;
  let unlike = 0;
  // keyOf is the same for elements that are alike, with all that is in them.
  function keyOf(n) {
    if (n.$nodeType === 3) return JSON.stringify(squash(n.$nodeValue));
    if (++visited > MAX_VISITED || opaque.test(n.$nodeName) || memory.closedRoots.has(n)) return `unlike ${++unlike}`;
    return `<${headOf(n)}${n.$shadowRoot ? " shadow" : ""}>${nodesOf(n).map(keyOf).join("")}</>`;
  }

  const controls =
    "a,button,select,textarea,option,label,[role=button],[role=link],[role=menuitem]," +
    "[role=tab],[role=checkbox],[role=switch],[contenteditable]";
  // tells reports whether an element itself makes clear what it is: a link with an address, or an
  // item with a text beside its controls. "Delete" alone could be for anything.
  function tells(e) {
    if (e.$nodeName === "A" && /^(?!\s*(#?\s*$|javascript:))/i.test(e.$getAttribute("href") ?? "")) return true;
    if (e.$matches(controls)) return false;
    return nodesOf(e).some((n) => (n.$nodeType === 3 ? /[\p{L}\p{N}]/u.test(n.$nodeValue) : tells(n)));
  }
  // around is the text of an element apart from what lists hold and live regions report.
  const apart =
    "ul,ol,dl,table,tbody,select,datalist,output,[aria-live],[role=list],[role=table]," +
    "[role=grid],[role=treegrid],[role=rowgroup],[role=listbox]," +
    "[role=tree],[role=feed],[role=log],[role=status],[role=alert]";
  function around(e) {
    if (e.$matches(apart)) return "";
    if (e.$nodeName === "IMG") return e.$getAttribute("alt") ?? "";
    if (typed(e)) return e.$value;
    return nodesOf(e).map((n) => (n.$nodeType === 3 ? squash(n.$nodeValue) : around(n))).join(" ");
  }

  // A heading tells what the things beside it are of: below another one they are others, also those
  // with a text that tells what they are. The number of those things in it does not count.
  const headings = "h1,h2,h3,h4,h5,h6,legend,caption,[role=heading]";
  const titleOf = (e) => squash(e.$textContent).replace(/\(\d+\)/g, "");
  const titlesOf = (list) =>
    list
      .flatMap((e) =>
        e.$matches(headings) ? [e] : e.$matches("header,hgroup") ? [...e.$querySelectorAll(headings)] : [],
      )
      .map(titleOf)
      .join("\n");
  let titles = new Map(); // of the document, when it was last looked at
  // retitle returns what is below headings that have another text now.
  function retitle() {
    const before = titles, parts = [];
    titles = new Map([...document.$querySelectorAll(headings)].slice(0, MAX_HEADINGS).map((e) => [e, titleOf(e)]));
    for (const [e, title] of titles)
      if (before.has(e) && before.get(e) !== title) parts.push(e.$parentElement?.$parentElement ?? e);
    return parts;
  }
  retitle();

  function move(old, now) {
    const n = numbers.get(old);
    if (n) {
      numbers.delete(old);
      if (!numbers.has(now)) {
        numbers.set(now, n);
        called.set(now, called.get(old));
      }
      elements.set(n, new WeakRef(now)); // also if it has another number by now
    }
    const inner = elementsOf(now);
    elementsOf(old).forEach((e, i) => { if (inner[i]) move(e, inner[i]); });
  }

  // Texts that have changed in place, and the choice of a tab or a page: see besides.
  const changed = new Set();
  function noteChange(e) {
    if (changed.size < MAX_REMOVED) changed.add(e);
  }
  // besides reports whether one of these is beside an element, so that what is in it may be of
  // something else.
  function besides(target, changes) {
    const scope = target.$parentElement?.$parentElement ?? target.$parentElement;
    return (
      !!scope &&
      changes.some((e) => scope.$contains(e) && !target.$contains(e) && !e.$contains(target) && !e.$closest(apart))
    );
  }

  const group = (all, key) => {
    const groups = new Map();
    for (const e of all) {
      const k = key(e);
      if (groups.has(k)) groups.get(k).push(e);
      else groups.set(k, [e]);
    }
    return groups;
  };
  const unique = (olds, news, key, visit) => {
    const by = group(news, key);
    for (const [k, [e, ...more]] of group(olds, key))
      if (!more.length && by.get(k)?.length === 1) visit(e, by.get(k)[0]);
  };
  const isItem = (e) =>
    /^(LI|TR|OPTION|ARTICLE)$/.test(e.$nodeName) ||
    /^(listitem|row|option|treeitem|article)$/.test(e.$getAttribute("role") ?? "");
  // isOne reports whether an element is one of several things, or a link, rather than a line of a
  // record: "From: Ann" is in many.
  const isOne = (e, all) =>
    e.$nodeName === "A" ||
    isItem(e) ||
    (e.$nodeName !== "P" && all.filter((other) => headOf(other) === headOf(e)).length > 1);
  // match finds the elements that are as they were among those in the same place. same: what is
  // around them is the same. ordered: the old ones are in their order.
  function match(olds, news, same, ordered) {
    if (titlesOf(olds) !== titlesOf(news)) return;
    const keys = new Map([...olds, ...news].map((e) => [e, keyOf(e)]));
    if (same && ordered && olds.length === news.length && olds.every((e, i) => keys.get(e) === keys.get(news[i]))) {
      olds.forEach((e, i) => move(e, news[i]));
      return;
    }
    const done = new Set();
    unique(olds, news, (e) => keys.get(e), (old, now) => {
      done.add(old).add(now);
      if (same || tells(old) && isOne(old, olds)) move(old, now);
      else match(elementsOf(old), elementsOf(now), same && !old.$matches(apart), true);
    });
    // A list or a part of the page that has changed is the same one if no other is like it. An
    // item is not: it may have the place of another.
    const part = (e) => !done.has(e) && !isItem(e);
    unique(olds.filter(part), news.filter(part), headOf, (old, now) =>
      match(elementsOf(old), elementsOf(now), same && !old.$matches(apart), true),
    );
  }

  // adopt gives the refs of what was removed to what is now in its place as it was.
  function adopt() {
    const retitled = retitle();
    const changes = [...changed];
    changed.clear();
    if (!removed.size) return;
    const all = [...removed];
    removed.clear();
    since = new WeakSet();
    const full = count > MAX_REMOVED;
    count = visited = 0;
    if (full) return;
    for (const [target, { records, all: gone }] of all) {
      if (!target.$isConnected || retitled.some((part) => part.$contains(target))) continue;
      const olds = [...gone].filter((e) => !e.$isConnected);
      const news = [...target.$children].filter((e) => !skipped.has(e.$nodeName) && !numbers.has(e));
      if (!olds.length || !news.length || olds.length + news.length > MAX_ELEMENTS) continue;
      const text = (list) => squash(list.map(around).join(" "));
      match(olds, news, text(olds) === text(news) && !besides(target, changes), records === 1);
    }
  }
  return { note, noteChange, adopt };
}
