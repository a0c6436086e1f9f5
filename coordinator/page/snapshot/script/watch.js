function () {
  // The watcher of this document. It keeps what the agent knows of the document, as a tree of
  // the lines of an outline, and collects what changes: the observer notes elements, and only
  // those are outlined again.
  if (globalThis.watch) return globalThis.watch;
  const MAX_DIRTY = 1000, SMALL = 40, LARGE = 100, MAX_VISITED = 1000, MAX_TIME = 200, MAX_TEXT = 20000, MAX_NOTICES = 20, MAX_TEXTS = 3;
  const { squash, limit, skipped } = library.naming();
  let root, owners, hidden, controls, touched;
  const dirty = new Set(), emptied = new Set(), dressed = new Set();
  let restyled = false, overflow = false, notices = [];
  const said = new WeakMap();

  const parentOf = (n) => n.assignedSlot ?? n.parentNode ?? n.host;
  const up = (e) => { let n = parentOf(e); while (n && n.nodeType !== 1) n = parentOf(n); return n; };
  const inside = (n, e) => { for (; n; n = parentOf(n)) if (n === e) return true; return false; };
  const visible = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[aria-hidden=true]");
  const follows = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;

  function note(set, n) {
    if (!n || skipped.has(n.nodeName)) return;
    if (set.size < MAX_DIRTY) set.add(n);
    else overflow = true;
  }

  const live = "[role=alert],[role=alertdialog],[role=status],[role=log],[role=dialog],[aria-live]:not([aria-live=off]),dialog,output";
  const toast = /(^|[-_ ])(toast|snackbar|notification|flash)/i;
  // hear notes what a live region shows: it may be gone before the next call.
  function hear(e) {
    if (e?.nodeType !== 1) return;
    let region = e.closest(live);
    for (let n = e, i = 0; !region && n && i < 3; n = n.parentElement, i++) if (toast.test(n.getAttribute("class") ?? "")) region = n;
    if (!region || region.getElementsByTagName("*").length > SMALL || !visible(region)) return; // what is large stays
    const text = limit(squash(region.innerText ?? ""), 200);
    if (!text || said.get(region) === text) return;
    said.set(region, text);
    const before = notices.filter((n) => n.region === region && n.text !== text).slice(1 - MAX_TEXTS);
    notices = [...notices.filter((n) => n.region !== region && n.text !== text), ...before, { region, text }].slice(-MAX_NOTICES);
  }

  function see(records) {
    const heard = new Set();
    for (const { type, target, addedNodes, removedNodes } of records) {
      if (type === "attributes") restyled = true;
      if (type !== "childList") {
        const e = target.nodeType === 1 ? target : target.parentElement ?? target.parentNode?.host;
        note(type === "attributes" ? dressed : dirty, e);
        heard.add(e);
        continue;
      }
      note(emptied, target);
      if ([...addedNodes, ...removedNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim())) note(dirty, target.host ?? target);
      for (const n of addedNodes) {
        if (n.nodeName === "STYLE" || n.nodeName === "LINK") restyled = true;
        if (n.nodeType !== 1) continue;
        note(dirty, n);
        for (const inner of n.firstElementChild ? n.querySelectorAll(live) : []) heard.add(inner);
      }
      heard.add(addedNodes[0]?.nodeType === 1 ? addedNodes[0] : target);
    }
    if (heard.size < 200) heard.forEach(hear);
  }
  // A form may hide properties by the names of its fields: no error may reach the console.
  const safely = (f) => (given) => {
    try { f(given); } catch { overflow = true; }
  };
  const observer = new MutationObserver(safely(see));
  const observed = new WeakSet();
  function observe(scope) {
    if (observed.has(scope)) return;
    observed.add(scope);
    observer.observe(scope, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  const toggled = safely((e) => { restyled = true; note(dirty, e.target); hear(e.target); });
  document.addEventListener("toggle", toggled, true);
  observe(document);

  // The tree: each node is a line with its element, its owner. Only lines of elements are
  // found by their owner; text is found by its holder.
  const stateOf = (c) => [c.value, c.checked, c.indeterminate, c.selectedIndex, c.matches(":disabled"), c.matches(":user-invalid")].join();
  function build(outline, items, parent) {
    return items.map((it) => {
      const node = { line: outline.lineOf(it), owner: it.owner, words: it.role === "text", control: it.control ?? it.owner, parent };
      node.kids = it.inline ? [] : build(outline, it.kids, node);
      node.inner = it.inline ? it.kids : [];
      return node;
    });
  }
  function register(nodes) {
    for (const node of nodes) {
      if (node.owner && !node.words) owners.set(node.owner, node);
      for (const c of [node.control, ...node.inner.map((k) => k.control ?? k.owner)]) {
        if (/^(INPUT|SELECT|TEXTAREA)$/.test(c?.nodeName)) controls.set(c, [stateOf(c), node.owner]);
      }
      register(node.kids);
    }
  }
  function unregister(nodes) {
    for (const node of nodes) {
      if (owners.get(node.owner) === node) owners.delete(node.owner);
      touched.delete(node);
      unregister(node.kids);
    }
  }
  const size = (node) => { let n = 1; for (const k of node.kids) if ((n += size(k)) > SMALL) break; return n; };
  const same = (a, b) => a.length === b.length && a.every((n, i) => n.line === b[i].line && n.owner === b[i].owner && same(n.kids, b[i].kids));
  const holderOf = (e) => { for (let n = e; n; n = up(n)) if (owners.has(n)) return owners.get(n); return root; };

  // learn makes an outline the known state.
  function learn(outline, items) {
    observer.takeRecords();
    settled();
    owners = new WeakMap();
    controls = new Map();
    hidden = new Set();
    touched = new Set();
    root = { owner: document.documentElement, line: "", parent: null };
    root.kids = build(outline, items, root);
    register(root.kids);
    take(outline);
  }
  function settled() {
    for (const set of [dirty, emptied, dressed]) set.clear();
    restyled = overflow = false;
  }
  function take(outline) {
    for (const e of outline.hidden) if (!skipped.has(e.nodeName)) hidden.add(e);
    outline.shadows.forEach(observe);
  }

  // regionOf is the element to outline again for one that has changed: a whole block, since
  // texts in a line become one, and the whole of something small, since its own line may have
  // changed.
  function regionOf(e) {
    if (e.nodeType !== 1) e = e.host ?? document.documentElement;
    if (!e?.isConnected || e.closest("head")) return null;
    while (e !== document.documentElement && !owners.has(e) && /^(inline|contents)/.test(getComputedStyle(e).display)) e = up(e) ?? document.documentElement;
    let node = holderOf(e);
    if (node !== root && size(node) <= SMALL) {
      while (node.parent !== root && size(node.parent) <= 5) node = node.parent;
      e = node.owner;
    }
    return e;
  }

  function change(holder, kids) {
    holder.before ??= holder.kids;
    holder.kids = kids;
    touched.add(holder);
  }

  // refresh outlines an element again.
  function refresh(e, outline) {
    const whole = e === document.documentElement;
    const holder = whole ? root : holderOf(up(e));
    const old = whole ? root.kids : holder.kids.filter((k) => k.owner && inside(k.owner, e));
    const items = e.parentElement?.closest("[aria-hidden=true]") ? [] : outline.itemsOf(e);
    const fresh = build(outline, items, holder);
    if (same(old, fresh)) return;
    let at = old.length ? holder.kids.indexOf(old[0]) : holder.kids.findIndex((k) => k.owner && follows(e, k.owner));
    if (at < 0) at = holder.kids.length;
    const rest = new Set(old);
    change(holder, [...holder.kids.slice(0, at), ...fresh, ...holder.kids.slice(at).filter((k) => !rest.has(k))]);
    unregister(old);
    register(fresh);
  }

  // notice finds what no observer reports: values of controls, and what styles show or hide.
  function notice() {
    for (const [c, [state, owner]] of controls) {
      if (!c.isConnected) controls.delete(c);
      else if (stateOf(c) !== state) {
        controls.set(c, [stateOf(c), owner]);
        note(dirty, owner);
        restyled = true;
      }
    }
    for (const e of hidden) {
      if (!e.isConnected) hidden.delete(e);
      else if (visible(e) && getComputedStyle(e).display !== "none") {
        hidden.delete(e);
        note(dirty, e);
      }
    }
    // Of something large, attributes change only what is shown.
    for (const e of dressed) if (owners.has(e) ? size(owners.get(e)) <= SMALL : e.getElementsByTagName("*").length <= LARGE) note(dirty, e);
    const look = (node) => {
      for (const k of node.kids) {
        if (!k.words && k.owner && !visible(k.owner) && getComputedStyle(k.owner).display !== "contents") note(dirty, k.owner);
        else look(k);
      }
    };
    if (restyled) look(root);
  }

  // drop removes the lines of elements that have gone, and finds those that have moved.
  function drop() {
    const holders = new Set();
    for (const n of emptied) {
      const e = n.nodeType === 1 ? n : n.host ?? document.documentElement;
      if (e.isConnected) holders.add(holderOf(e));
    }
    for (const holder of holders) {
      const gone = holder.kids.filter((k) => k.owner && !k.owner.isConnected);
      if (gone.length) {
        change(holder, holder.kids.filter((k) => !gone.includes(k)));
        unregister(gone);
      }
      const placed = holder.kids.filter((k) => k.owner && !k.words);
      if (placed.some((k, i) => i > 0 && k.owner !== placed[i - 1].owner && !follows(placed[i - 1].owner, k.owner))) note(dirty, holder.owner);
    }
  }

  // changes is what has changed since the agent last knew the document: the changed lines as
  // they were and as they are, with their parents.
  function changes(options) {
    safely(see)(observer.takeRecords());
    const found = { before: "", after: "", much: false, fresh: [], last: options.last };
    if (root) {
      const began = performance.now();
      notice();
      drop();
      const outline = library.outline(document.documentElement, options);
      const regions = new Set([...dirty].map(regionOf).filter(Boolean));
      for (const e of regions) {
        if (outline.visited() > MAX_VISITED || performance.now() - began > MAX_TIME) overflow = true;
        if (overflow) break;
        let outer = up(e);
        while (outer && !regions.has(outer)) outer = up(outer);
        if (!outer) refresh(e, outline);
      }
      take(outline);
      marks = new Map();
      Object.assign(found, { before: print("before"), after: print("after"), fresh: outline.fresh.flat(), last: outline.last() });
      found.much = overflow || found.before.length + found.after.length > MAX_TEXT;
      for (const node of touched) node.before = undefined;
      touched.clear();
      if (overflow) root = undefined;
      settled();
    }
    if (found.much) found.before = found.after = "";
    // What is still there is in the lines.
    found.notices = notices.filter(({ region, text }) => !root || !visible(region) || limit(squash(region.innerText ?? ""), 200) !== text).map((n) => n.text);
    notices = [];
    return found;
  }

  let marks = new Map();
  function print(which) {
    if (!touched.size) return "";
    const marked = new Set();
    for (let node of touched) for (; node && !marked.has(node); node = node.parent) marked.add(node);
    const lines = [];
    let skipped = false; // a mark for lines that are the same in both
    const kidsOf = (node) => (which === "before" ? node.before : undefined) ?? node.kids;
    const whole = (node, level) => {
      skipped = false;
      lines.push("  ".repeat(level) + node.line);
      for (const k of kidsOf(node)) whole(k, level + 1);
    };
    const walk = (node, level) => {
      const kept = new Set(node.kids), were = new Set(node.before);
      const moved = node.before && node.before.filter((k) => kept.has(k)).some((k, i, all) => i > 0 && node.kids.indexOf(all[i - 1]) > node.kids.indexOf(k));
      for (const k of kidsOf(node)) {
        const both = !node.before || kept.has(k) && were.has(k);
        if (both && marked.has(k)) {
          skipped = false;
          lines.push("  ".repeat(level) + k.line);
          walk(k, level + 1);
          skipped = false;
        } else if (!both || moved) whole(k, level);
        else if (!skipped) {
          skipped = true;
          if (!marks.has(k)) marks.set(k, marks.size);
          lines.push("  ".repeat(level) + "\u0002" + marks.get(k));
        }
      }
    };
    walk(root, 0);
    return lines.map((l) => l + "\n").join("");
  }

  function end() {
    observer.disconnect();
    document.removeEventListener("toggle", toggled, true);
  }
  return (globalThis.watch = { learn, changes, end, knows: () => !!root });
}
