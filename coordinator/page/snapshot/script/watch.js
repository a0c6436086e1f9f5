function () {
  // The watcher of this document. It keeps what the agent knows of the document, as a tree of
  // the lines of an outline, and collects what changes: the observer notes elements, and only
  // those are outlined again.
  if (memory.watch) return memory.watch;
  const MAX_DIRTY = 1000,
    SMALL = 40,
    LARGE = 100,
    FEW = 2000,
    MAX_VISITED = 1000,
    MAX_TEXT = 20000,
    MAX_PASSED = 40,
    MAX_FILLED = 20,
    MAX_ANNOUNCED = 200,
    MAX_REGION = 2000,
    MAX_TEXTS = 3,
    MAX_SIBLINGS = 5;
  const { squash, limit, skipped, textOf, nameOf, roleOf } = library.naming();
  const redrawn = library.redrawn();
  let root, owners, hidden, controls, touched, count = 0;
  const dirty = new Set(), emptied = new Set(), dressed = new Set();
  let restyled = false, overflow = false, title = document.$title;

  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host;
  const { up } = library.visibility();
  const inside = (n, e) => {
    for (; n; n = parentOf(n)) if (n === e) return true;
    return false;
  };
  const concealed = (e) => {
    for (let n = e; n; n = n.$getRootNode().$host) if (n.$closest("[aria-hidden=true]")) return true;
    return false;
  };
  const follows = (a, b) => a.$compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;

  function note(set, n) {
    if (!root || overflow || !n || skipped.has(n.$nodeName)) return;
    set.add(n);
    if (set.size <= MAX_DIRTY) return;
    for (const e of set) if (!e.$isConnected) set.delete(e); // rows of a list that was scrolled, for example
    if (set.size > MAX_DIRTY / 2) tooMuch();
  }
  // tooMuch: nothing is compared, so that nothing needs to be kept.
  function tooMuch() {
    overflow = true;
    for (const set of [dirty, emptied, dressed]) set.clear();
  }

  const live =
    "[role=alert],[role=alertdialog],[role=status],[role=log],[role=dialog]," +
    "[aria-live]:not([aria-live=off]),dialog,output";
  const toast = /(^|[-_ ])(toast|snackbar|notification|flash)/i;
  const toasts = ["toast", "snackbar", "notification", "flash"].map((s) => `,[class*=${s} i]`).join("");
  const isToast = (e) => toast.test(e.$getAttribute("class") ?? "");
  const isDialog = (e) => e.$matches("[role=dialog],[role=alertdialog],dialog");
  const shownIn = (region) =>
    library.visibility().shown(region) && !concealed(region)
      ? textOf(region, undefined, { left: MAX_REGION }).split("\u2029").map(squash).filter(Boolean)
      : [];

  // What live regions show may be gone before the next answer. Of each: the lines that it shows, and
  // those that the agent knows, that it knows and that went, and that have come back since.
  const heard = new Map();
  let passed = [], missed = 0; // what was shown that the agent does not know, and how much is not kept
  function hear(region) {
    const now = shownIn(region);
    if (!heard.has(region)) heard.set(region, { lines: [], known: new Set(), lost: new Set(), again: new Set() });
    const of = heard.get(region), gone = of.lines.filter((l) => !now.includes(l));
    const unknown = gone.filter((l) => !of.known.has(l));
    for (const l of gone) if (of.known.has(l)) of.lost.add(l);
    for (const l of now) if (of.lost.has(l) && !of.lines.includes(l)) of.again.add(l);
    if (unknown.length) {
      const all = unknown.join(" "), whole = !now.length && isDialog(region);
      const text = whole ? limit(of.name || unknown[0], 200) + " (a dialog)" : limit(all, 200);
      passed = [...passed.filter((p) => p.text !== text), { region, text, all }];
      while (passed.length > MAX_PASSED) missed += passed.splice(0, 1).length;
    }
    of.lines = now;
    if (now.length && isDialog(region)) of.name = squash(nameOf(region, roleOf(region)));
  }
  // announce notes what the live region shows that an element is in.
  function announce(e) {
    if (e?.$nodeType !== 1) return;
    let region;
    for (let n = e; !region && n; n = n.$getRootNode().$host) region = n.$closest(live);
    for (let n = e, i = 0; !region && n && i < 3; n = up(n), i++) if (isToast(n)) region = n;
    if (region && region.$getElementsByTagName("*").length <= SMALL) hear(region); // what is large stays
  }
  // hearAll finds what no observer reports, as a style that hides a region.
  function hearAll() {
    safely(see)(observer.takeRecords());
    for (const region of [...heard.keys()].slice(-MAX_ANNOUNCED)) hear(region);
  }
  // informed notes that the agent knows what the regions show.
  function informed() {
    fleeting = [];
    for (const [region, of] of heard) {
      Object.assign(of, { known: new Set(of.lines), lost: new Set(), again: new Set() });
      if (!region.$isConnected) heard.delete(region);
    }
  }
  // gone are the texts that were shown and are not shown any longer, once: the last of each region.
  function gone() {
    hearAll();
    const shown = [...heard.values()].flatMap((of) => of.lines).join("\n");
    const all = passed.filter((p) => !shown.includes(p.text)), by = new Map();
    for (const p of all) by.set(p.region, [...(by.get(p.region) ?? []), p]);
    const last = all.filter((p) => by.get(p.region).slice(-MAX_TEXTS).includes(p)).map((p) => p.text);
    const found = { notices: last, missed: missed + all.length - last.length };
    [passed, missed] = [[], 0];
    return found;
  }

  // Texts elsewhere that the page has put in: nothing reports them, but a wait for one is over.
  let fleeting = [];
  function glance(e) {
    if (e?.$nodeType !== 1 || skipped.has(e.$nodeName) || e.$getElementsByTagName("*").length > SMALL) return;
    const text = e.$textContent;
    if (!text.trim() || text.length > MAX_REGION || !e.$checkVisibility({ visibilityProperty: true })) return;
    fleeting = [...fleeting.filter((t) => t !== text), text].slice(-MAX_PASSED);
  }
  // hasPassed reports whether a text, as of library.plain, was shown that the agent does not know.
  function hasPassed(text) {
    hearAll();
    const has = (t) => library.plain(t).includes(text);
    const isKnown = (node) => has(node.line) || (node.before ?? node.kids).some(isKnown);
    return passed.some((p) => has(p.all)) || (!!root && fleeting.some(has) && !isKnown(root));
  }

  // listen notes what live regions show, which is not new when they change.
  function listen() {
    let left = MAX_ANNOUNCED;
    for (const region of document.$querySelectorAll(live + toasts))
      if (left-- > 0 && region.$getElementsByTagName("*").length <= SMALL) hear(region);
  }

  function see(records) {
    const certain = new Set(), changed = new Set(), filled = new Set(); // certain: live regions
    for (const { type, target, attributeName, addedNodes, removedNodes } of records) {
      if (type === "attributes") restyled = true;
      if (attributeName === "aria-disabled") note(dirty, target); // of all that is in it
      if (type !== "childList") {
        const e = target.$nodeType === 1 ? target : target.$parentElement ?? target.$parentNode?.$host;
        note(type === "attributes" ? dressed : dirty, e);
        changed.add(e);
        if (type === "characterData") filled.add(e);
        if (e && (type !== "attributes" || /^aria-(selected|current)$/.test(attributeName))) redrawn.noteChange(e);
        continue;
      }
      note(emptied, target);
      redrawn.note({ target, addedNodes, removedNodes });
      if ([...addedNodes, ...removedNodes].some((n) => n.$nodeType === 3 && n.$nodeValue.trim())) {
        note(dirty, target.$nodeType === 11 ? target.$host : target);
        const text = (nodes) => [...nodes].map((n) => n.$textContent).join("");
        if (target.$nodeType === 1 && text(addedNodes) !== text(removedNodes)) redrawn.noteChange(target);
      }
      for (const n of addedNodes) {
        filled.add(n.$nodeType === 1 ? n : target);
        if (n.$nodeName === "STYLE" || n.$nodeName === "LINK") restyled = true;
        if (n.$nodeType !== 1) continue;
        note(dirty, n);
        if (n.$matches(live) || isToast(n)) certain.add(n);
        for (const inner of n.$firstElementChild ? n.$querySelectorAll(live) : []) certain.add(inner);
      }
      changed.add(addedNodes[0]?.$nodeType === 1 ? addedNodes[0] : target);
    }
    let left = MAX_ANNOUNCED;
    for (const e of new Set([...certain, ...changed])) if (left-- > 0) announce(e);
    for (const e of [...filled].slice(-MAX_FILLED)) glance(e);
  }
  // No error may reach the page's console.
  const safely = (f) => (given) => {
    try { f(given); } catch { tooMuch(); }
  };
  const observer = new MutationObserver(safely(see));
  const observed = new WeakSet();
  function observe(scope) {
    if (observed.has(scope)) return;
    observed.add(scope);
    observer.observe(scope, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  const toggled = safely((e) => { restyled = true; note(dirty, e.target); announce(e.target); });
  const resized = () => { restyled = true; };
  document.$addEventListener("toggle", toggled, true);
  addEventListener("resize", resized);
  observe(document);

  // The tree: each node is a line with its element, its owner. Only lines of elements are
  // found by their owner; text is found by its holder.
  const opens = CSS.supports("selector(:open)");
  const stateOf = (c) =>
    [
      c.$value,
      c.$checked,
      c.$indeterminate,
      c.$multiple && c.$selectedOptions ? [...c.$selectedOptions].map((o) => o.$index) : c.$selectedIndex,
      c.$matches(":disabled"),
      c.$matches(":user-invalid"),
      opens && c.$matches(":open"),
    ].join();
  const partsOf = (it) => it.parts?.filter((e) => e !== it.owner) ?? [];
  function build(outline, items, parent) {
    return items.map((it) => {
      const node = {
        line: outline.lineOf(it),
        owner: it.owner,
        words: it.role === "text",
        control: it.control ?? it.owner,
        parts: partsOf(it),
        parent,
      };
      node.kids = it.inline ? [] : build(outline, it.kids, node);
      node.inner = it.inline ? it.kids : [];
      return node;
    });
  }
  function enter(node) {
    if (node.owner && !node.words) owners.set(node.owner, node);
    for (const c of [node.control, ...node.inner.map((k) => k.control ?? k.owner)]) {
      if (/^(INPUT|SELECT|TEXTAREA|BUTTON)$/.test(c?.$nodeName)) controls.set(c, [stateOf(c), node.owner]);
    }
  }
  function register(nodes) {
    for (const node of nodes) {
      count++;
      enter(node);
      register(node.kids);
    }
  }
  function unregister(nodes) {
    for (const node of nodes) {
      count--;
      if (owners.get(node.owner) === node) owners.delete(node.owner);
      touched.delete(node);
      unregister(node.kids);
    }
  }
  const size = (node) => {
    let n = 1;
    for (const k of node.kids) if ((n += size(k)) > SMALL) break;
    return n;
  };
  const same = (a, b) =>
    a.length === b.length &&
    a.every((n, i) => n.line === b[i].line && n.owner === b[i].owner && same(n.kids, b[i].kids));
  const holderOf = (e) => {
    for (let n = e; n; n = up(n)) if (owners.has(n)) return owners.get(n);
    return root;
  };

  // learn makes an outline the known state.
  function learn(outline, items) {
    observer.takeRecords();
    settled();
    owners = new WeakMap();
    controls = new Map();
    hidden = new Set();
    touched = new Set();
    root = { owner: document.$documentElement, line: "", parent: null };
    root.kids = build(outline, items, root);
    count = 0;
    register(root.kids);
    attached(document);
    listen();
    informed();
    settled(); // those hosts are in the outline
    take(outline);
    title = document.$title;
  }
  // attached observes the shadow roots that are not observed yet, which no observer reports,
  // and notes their hosts.
  function attached(scope) {
    for (const e of scope.$querySelectorAll("*")) {
      const shadow = library.shadowOf(e);
      if (!shadow) continue;
      if (!observed.has(shadow)) note(dirty, e);
      observe(shadow);
      attached(shadow);
    }
  }
  function settled() {
    for (const set of [dirty, emptied, dressed]) set.clear();
    restyled = overflow = false;
  }
  function take(outline) {
    for (const e of outline.hidden) if (!skipped.has(e.$nodeName)) hidden.add(e);
    outline.shadows.forEach(observe);
  }

  // regionOf is the element to outline again for one that has changed: a whole block, since
  // texts in a line become one, and the whole of something small, since its own line may have
  // changed.
  function regionOf(e) {
    if (e.$nodeType !== 1) e = e.$host ?? document.$documentElement;
    if (!e?.$isConnected || e.$closest("head")) return null;
    while (e !== document.$documentElement && !owners.has(e) && /^(inline|contents)/.test(getComputedStyle(e).display))
      e = up(e) ?? document.$documentElement;
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

  // linesOf groups the lines of a holder by the regions that they are in. A line of one
  // region stays when another is outlined again.
  function linesOf(holder, regions, groups) {
    let lines = groups.get(holder);
    if (lines) return lines;
    groups.set(holder, (lines = new Map()));
    for (const k of holder.kids) {
      let n = k.owner;
      while (n && n !== holder.owner && !regions.has(n)) n = parentOf(n);
      if (!regions.has(n)) continue;
      if (lines.has(n)) lines.get(n).push(k);
      else lines.set(n, [k]);
    }
    return lines;
  }

  // placeOf is where the lines of an element that had none belong: beside those of the
  // nearest sibling, since to compare the places of all takes long in a long list.
  function placeOf(e, holder) {
    const line = (s) => (owners.get(s)?.parent === holder ? holder.kids.indexOf(owners.get(s)) : -1);
    for (let s = e.$previousElementSibling, left = MAX_SIBLINGS; s && left > 0; s = s.$previousElementSibling, left--) {
      const at = line(s) >= 0 ? line(s) : holder.kids.findLastIndex((k) => k.owner && inside(k.owner, s));
      if (at >= 0) return at + 1;
    }
    for (let s = e.$nextElementSibling, left = MAX_SIBLINGS; s && left > 0; s = s.$nextElementSibling, left--) {
      const at = line(s) >= 0 ? line(s) : holder.kids.findIndex((k) => k.owner && inside(k.owner, s));
      if (at >= 0) return at;
    }
    const at = holder.kids.findIndex((k) => k.owner && follows(e, k.owner));
    return at < 0 ? holder.kids.length : at;
  }

  // refresh outlines a region again.
  function refresh(e, outline, regions, groups) {
    const whole = e === document.$documentElement;
    const holder = whole ? root : holderOf(up(e));
    const old = whole ? root.kids : linesOf(holder, regions, groups).get(e) ?? [];
    const items = concealed(up(e)) ? [] : outline.itemsOf(e);
    const fresh = build(outline, items, holder);
    if (same(old, fresh)) return;
    const at = old.length ? holder.kids.indexOf(old[0]) : placeOf(e, holder);
    const rest = new Set(old), lines = merge(holder, old, fresh, dropped.get(holder));
    change(holder, [...holder.kids.slice(0, at), ...lines, ...holder.kids.slice(at).filter((k) => !rest.has(k))]);
  }

  // merge replaces new lines of a holder by the old ones that are the same, also by those of
  // elements that have gone, so that only what has changed is printed, and where.
  let dropped = new Map();
  function merge(holder, old, fresh, gone = new Set()) {
    const reused = reuse([...old, ...gone], fresh), by = new Map();
    const again = [...gone].filter((k) => reused.has(k));
    for (const k of again) gone.delete(k);
    for (const k of old) if (k.owner && !k.words && k.kids.length && !reused.has(k)) by.set(k.owner, k);
    const lines = fresh.map((now) => {
      const was = reused.has(now) ? undefined : by.get(now.owner);
      if (!was || was.line !== now.line || !now.kids.length || reused.has(was)) return now;
      reused.add(was);
      renew(was, now);
      change(was, merge(was, was.kids, now.kids));
      return was;
    });
    for (const k of lines) k.parent = holder;
    unregister(old.filter((k) => !reused.has(k)));
    register([...lines.filter((k) => !reused.has(k)), ...again]);
    return lines;
  }

  // reuse replaces new nodes by the old ones that have the same lines, those of the same elements
  // first, and returns them.
  function reuse(old, fresh) {
    const by = new Map(), reused = new Set();
    const linesIn = (node) => [node.line, ...node.kids.map((k) => linesIn(k).replace(/^/gm, " "))].join("\n");
    for (const k of old) {
      const lines = linesIn(k);
      if (by.has(lines)) by.get(lines).push(k);
      else by.set(lines, [k]);
    }
    const pass = (fits) => fresh.forEach((now, i) => {
      const was = !reused.has(now) && by.get(linesIn(now))?.find((k) => !reused.has(k) && fits(k, now));
      if (!was) return;
      renewAll(was, now);
      reused.add(fresh[i] = was);
    });
    pass((k, now) => k.owner === now.owner);
    pass(() => true);
    return reused;
  }
  // renew gives a node the elements that have its line now, and renewAll all that are in it.
  function renew(node, now) {
    if (owners.get(node.owner) === node) owners.delete(node.owner);
    Object.assign(node, { owner: now.owner, control: now.control, parts: now.parts, inner: now.inner });
    enter(node);
  }
  function renewAll(node, now) {
    renew(node, now);
    node.kids.forEach((k, i) => renewAll(k, now.kids[i]));
  }

  // notice finds what no observer reports: values of controls, and what styles show or hide.
  function notice() {
    const { shown } = library.visibility(), visible = (e) => shown(e) && !concealed(e);
    for (const [c, [state, owner]] of controls) {
      if (!c.$isConnected) controls.delete(c);
      else if (stateOf(c) !== state) {
        controls.set(c, [stateOf(c), owner]);
        note(dirty, owner);
        restyled = true;
      }
    }
    for (const e of hidden) {
      if (!e.$isConnected) hidden.delete(e);
      else if (visible(e)) {
        hidden.delete(e);
        note(dirty, e);
      }
    }
    attached(document);
    // Of something large, attributes change only what is shown.
    for (const e of dressed)
      if (owners.has(e) ? size(owners.get(e)) <= SMALL : e.$getElementsByTagName("*").length <= LARGE) note(dirty, e);
    const remains = restyled ? visible : shown;
    const unseen = (e) => e && !remains(e);
    const look = (node) => {
      for (const k of node.kids) {
        if (
          unseen(k.owner) ||
          k.parts.some(unseen) ||
          k.inner.some((part) => unseen(part.owner) || partsOf(part).some(unseen))
        )
          note(dirty, k.owner);
        else look(k);
      }
    };
    // Pseudo-classes such as :hover show and hide without any event.
    if (restyled || count <= FEW) look(root);
  }

  // drop removes the lines of elements that have gone, and finds those that have moved.
  function drop() {
    const holders = new Set();
    dropped = new Map();
    for (const n of emptied) {
      const e = n.$nodeType === 1 ? n : n.$host ?? document.$documentElement;
      if (!e.$isConnected) continue;
      holders.add(holderOf(e));
      // What has gone may have been a part of a line, which nothing large is in one.
      if (
        e.$getElementsByTagName("*").length <= LARGE ||
        [...e.$childNodes].some((c) => c.$nodeType === 3 && c.$nodeValue.trim())
      )
        note(dirty, e);
    }
    for (const holder of holders) {
      const gone = new Set(
        holder.kids.filter((k) => k.owner && !(k.owner.$isConnected && inside(k.owner, holder.owner))),
      );
      if (gone.size) {
        change(holder, holder.kids.filter((k) => !gone.has(k)));
        unregister(gone);
        dropped.set(holder, gone);
      }
      const placed = holder.kids.filter((k) => k.owner && !k.words);
      if (placed.some((k, i) => i > 0 && k.owner !== placed[i - 1].owner && !follows(placed[i - 1].owner, k.owner)))
        note(dirty, holder.owner);
    }
  }

  // changes is what has changed since the agent last knew the document: the changed lines as
  // they were and as they are, with their parents.
  function changes(options) {
    adopt();
    const found = { before: "", after: "", much: false, fresh: [], last: options.last };
    if (root) {
      const began = performance.now();
      notice();
      drop();
      const outline = library.outline(document.$documentElement, options);
      const all = new Set([...dirty].map(regionOf).filter(Boolean));
      const outermost = (e) => { for (let n = up(e); n; n = up(n)) if (all.has(n)) return false; return true; };
      const regions = new Set([...all].filter(outermost)), groups = new Map();
      for (const e of regions) {
        if (outline.visited() > MAX_VISITED || performance.now() - began > options.budget) overflow = true;
        if (overflow) break;
        refresh(e, outline, regions, groups);
      }
      take(outline);
      marks = new Map();
      Object.assign(found, {
        before: print("before"),
        after: print("after"),
        fresh: outline.fresh.flat(),
        last: outline.last(),
      });
      found.much = overflow || found.before.length + found.after.length > MAX_TEXT;
      for (const node of touched) node.before = undefined;
      touched.clear();
      if (overflow) root = owners = hidden = controls = undefined;
      settled();
    }
    if (found.much) found.before = found.after = "";
    Object.assign(found, gone());
    const of = [...heard.values()], lines = (some) => of.map((r) => r.lines.filter(some(r)).join(" ")).filter(Boolean);
    found.again = lines((r) => (l) => r.again.has(l));
    if (!root || found.much) found.shown = lines((r) => (l) => !r.known.has(l) && !r.again.has(l)); // not in the lines
    informed();
    if (document.$title !== title) found.title = limit(squash(title = document.$title), 200);
    return found;
  }

  // adopt lets refs go on to what was drawn anew.
  function adopt() {
    safely(see)(observer.takeRecords());
    safely(redrawn.adopt)();
  }

  // pending reports whether changes may have something to compare; it is cheap.
  function pending() {
    safely(see)(observer.takeRecords());
    const news = passed.length > 0 || [...heard.values()].some((of) => of.again.size);
    if (!root) return overflow || news;
    return (
      overflow ||
      restyled ||
      news ||
      dirty.size + emptied.size + dressed.size > 0 ||
      document.$title !== title ||
      [...controls].some(([c, [state]]) => c.$isConnected && stateOf(c) !== state)
    );
  }

  // stay are the lines of a holder that have kept their order (a longest increasing subsequence);
  // the others have moved, or are new.
  function stay(node) {
    const at = new Map(node.before.map((k, i) => [k, i])), kept = node.kids.filter((k) => at.has(k));
    const tails = [], previous = new Map();
    for (const k of kept) {
      let low = 0, high = tails.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (at.get(tails[middle]) < at.get(k)) low = middle + 1;
        else high = middle;
      }
      previous.set(k, tails[low - 1]);
      tails[low] = k;
    }
    const still = new Set();
    for (let k = tails[tails.length - 1]; k; k = previous.get(k)) still.add(k);
    return still;
  }

  // runsOf are the lines of a holder that stay side by side and have nothing else in them, by the
  // first of them. They are the same before and after.
  function runsOf(node, still, marked) {
    const at = new Map(node.before.map((k, i) => [k, i])), runs = new Map();
    let run, last;
    for (const k of node.kids) {
      if (!still.has(k) || marked.has(k)) run = undefined;
      else if (run && at.get(k) === at.get(last) + 1) run.push(k);
      else runs.set(k, (run = [k]));
      last = k;
    }
    return runs;
  }

  // print prints the changed lines with what is beside them. A line of an element that is the
  // same ends in its number, and one that has moved in that of its text: only the former are
  // equal in both texts.
  let marks = new Map();
  function print(which) {
    if (!touched.size) return "";
    const marked = new Set();
    for (let node of touched) for (; node && !marked.has(node); node = node.parent) marked.add(node);
    const lines = [];
    const markOf = (k) => { if (!marks.has(k)) marks.set(k, marks.size); return marks.get(k); };
    const kidsOf = (node) => (which === "before" ? node.before : undefined) ?? node.kids;
    const push = (k, level, mark) =>
      lines.push("  ".repeat(level) + k.line + (mark === undefined ? "" : "\u0005" + mark));
    const whole = (node, level, mark) => {
      push(node, level, mark);
      for (const k of kidsOf(node)) whole(k, level + 1, mark);
    };
    const beside = (run, level) => {
      run.forEach((k, i) => {
        if (run.length < 4 || i === 0 || i === run.length - 1) push(k, level, markOf(k));
        else if (i === 1) lines.push("  ".repeat(level) + `\u0002${markOf(k)} ${run.length - 2}`);
      });
    };
    const walk = (node, level) => {
      if (!node.before) {
        let skipped = false; // a mark for lines that are the same in both
        for (const k of node.kids) {
          if (marked.has(k)) {
            push(k, level, markOf(k));
            walk(k, level + 1);
          } else if (!skipped) lines.push("  ".repeat(level) + "\u0002" + markOf(k));
          skipped = !marked.has(k);
        }
        return;
      }
      const still = stay(node), runs = runsOf(node, still, marked);
      const kept = new Set(node.kids), were = new Set(node.before);
      for (const k of kidsOf(node)) {
        if (!still.has(k)) whole(k, level, kept.has(k) && were.has(k) ? which : undefined);
        else if (marked.has(k)) {
          push(k, level, markOf(k));
          walk(k, level + 1);
        } else if (runs.has(k)) beside(runs.get(k), level);
      }
    };
    walk(root, 0);
    return lines.map((l) => l + "\n").join("");
  }

  // all are the lines that are known.
  function all() {
    const text = [];
    const walk = (kids, level) => {
      for (const k of kids) {
        text.push("  ".repeat(level) + k.line + "\n");
        walk(k.kids, level + 1);
      }
    };
    walk(root.kids, 0);
    return limit(text.join(""), MAX_TEXT);
  }

  function end() {
    observer.disconnect();
    document.$removeEventListener("toggle", toggled, true);
    removeEventListener("resize", resized);
  }
  return (memory.watch = {
    learn,
    changes,
    adopt,
    gone,
    hasPassed,
    pending,
    all,
    end,
    look: (e) => note(dirty, e),
    knows: () => !!root,
  });
}
