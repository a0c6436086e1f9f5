async function ({ kind, position, budget, quick, calm: calmTime = Infinity, asks, alone, fixed }) {
  // Waits until the element can be acted on, as Playwright defines it, and
  // returns the point to act on in the coordinates of the topmost document of
  // this process; else why not. If it asks, it returns before it scrolls, unless this
  // document is alone and nothing has changed in it since the agent was shown it. If it is fixed,
  // it never scrolls.
  const target = this;
  let known; // the agent knows the document as it was before this has scrolled it
  const still = () => (known ??= !memory.watch?.pending());
  let element = target;
  const end = performance.now() + budget;
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);
  const describe = (e) => {
    let s = "<" + e.$localName;
    if (e.$id) s += ` id="${e.$id}"`;
    if (typeof e.$className === "string" && e.$className) s += ` class="${limit(e.$className, 60)}"`;
    const text = limit((e.$innerText ?? "").trim().replace(/\s+/g, " "), 40);
    return s + ">" + (text ? ` "${text}"` : "");
  };
  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host ?? null;
  const contains = (outer, n) => {
    for (; n; n = parentOf(n)) if (n === outer) return true;
    return false;
  };
  const deepest = (root, x, y) => {
    let found = root.$elementFromPoint(x, y);
    for (let shadow; (shadow = found && library.shadowOf(found)); ) {
      const inner = shadow.$elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  // A tab in the background may get no animation frames: then time must do. An animation
  // stands still until a frame of a later time. A busy browser gets longer to draw one.
  const frame = () => new Promise((done) => {
    const began = document.$timeline.currentTime;
    const drawn = () => (document.$timeline.currentTime === began ? requestAnimationFrame(drawn) : done());
    const visible = document.$visibilityState === "visible";
    if (visible) requestAnimationFrame(drawn);
    setTimeout(done, !visible ? 16 : moves() ? 1000 : 100);
  });
  // An animation moves nothing in its first frame, nor where nothing is drawn.
  const moves = () =>
    document
      .$getAnimations()
      .some((a) => a.playState === "running" && a.effect?.target && contains(a.effect.target, element));
  const endless = () =>
    document.$getAnimations().some((a) => a.playState === "running" && a.effect?.target &&
      contains(a.effect.target, element) && a.effect.getComputedTiming().endTime === Infinity);
  let began = 0, anchor = null; // of a movement, see pivot
  const begins = () =>
    document
      .$getAnimations()
      .some(
        (a) =>
          a.playState === "running" &&
          (a.pending || a.currentTime < 34) &&
          a.effect?.target &&
          contains(a.effect.target, element),
      );
  const disabled = () => {
    const control = element.$control ?? element; // of a label
    if (control.$matches(":disabled")) return true;
    for (let n = control; n; n = parentOf(n)) {
      const aria = n.$getAttribute?.("aria-disabled");
      if (aria) return aria === "true";
    }
    return false;
  };
  // What is disabled shows why when the pointer is over it.
  const usable = () => kind === "hover" || !disabled();
  const inert = () => {
    for (let n = element; n; n = parentOf(n)) if (n.$inert) return true;
    return false;
  };
  // locked is what else gets all input of the mouse, by a pointer lock.
  const locked = () => {
    for (let w = window; w; w = library.owner(w) && w.parent) {
      const by = w.document.$pointerLockElement;
      if (by && !contains(by, element) && !contains(element, by)) return by;
    }
    return null;
  };
  // What is no field never becomes one: fill.js reports that.
  const field = ["INPUT", "TEXTAREA", "SELECT"].includes(element.$nodeName);
  const editable = () => element.$isContentEditable || !element.$readOnly || library.isList.call(element);
  const image = library.imageOf(element); // in whose pixels an area is given
  const part = () => {
    const whole = image.$getBoundingClientRect();
    const c = element.$coords.split(",").map(Number);
    if (element.$shape === "default" || c.length < 3 || c.some(isNaN)) return whole;
    const round = element.$shape === "circle" ? c[2] : 0,
      end = round ? 2 : c.length;
    const xs = c.slice(0, end).filter((_, i) => i % 2 === 0),
      ys = c.slice(0, end).filter((_, i) => i % 2);
    const left = Math.min(...xs) - round,
      top = Math.min(...ys) - round;
    return new DOMRect(
      whole.left + left,
      whole.top + top,
      Math.max(...xs) + round - left,
      Math.max(...ys) + round - top,
    );
  };
  const box = () => {
    if (image) return part();
    for (const r of element.$getClientRects()) if (r.width > 0 && r.height > 0) return r;
    // display: contents and the like: what the children show.
    const range = document.$createRange();
    range.selectNodeContents(element);
    for (const r of range.getClientRects()) if (r.width > 0 && r.height > 0) return r;
    return null;
  };
  const hidden = () => {
    const { visibility, display } = getComputedStyle(element), by = collapsed(), opener = library.opener(element);
    const how = by ? "it is hidden in " + describe(by) + ", which is collapsed"
      : visibility === "visible" || display === "none" || !box() ? "it has no size or is not displayed"
        : "it is hidden by visibility: " + visibility;
    return how + (opener && ": " + opener + " may show it");
  };
  const collapsed = () => !image && library.visibility().hiddenBy(element);
  const displayed = () => !!image || library.visibility().displayed(element); // what is in closed details has a box
  const whole = () => (image ? part() : element.$getBoundingClientRect());
  // given is the point at the position that was given, in view or not.
  const given = () => {
    const r = whole();
    return image ? { x: r.left + position.x, y: r.top + position.y } : library.pointAt.call(element, position);
  };
  const within = (p, r) => p.x >= r.left && p.x < r.right && p.y >= r.top && p.y < r.bottom;
  const point = (r) => {
    if (position) return within(given(), new DOMRect(0, 0, innerWidth, innerHeight)) ? given() : null;
    const left = Math.max(r.left, 0), right = Math.min(r.right, innerWidth);
    const top = Math.max(r.top, 0), bottom = Math.min(r.bottom, innerHeight);
    if (right - left < 1 || bottom - top < 1) return null;
    if (element.$nodeName === "LABEL") { // a link in a label would be followed
      const at = (share) => ({ x: left + (right - left) * share, y: (top + bottom) / 2 });
      return at([0.5, 0.05, 0.95, 0.25, 0.75].find((share) => !inLabel(at(share))) ?? 0.5);
    }
    const own = library.ownPoint.call(element, { left, top, right, bottom });
    return own.by && tried < scrolls.length ? null : own; // the element's own point may be out of view
  };
  const inLabel = ({ x, y }) => {
    const control = deepest(element.$getRootNode(), x, y)?.$closest?.("a[href], button, input, select, textarea");
    return control && control !== element.$control && contains(element, control);
  };
  // hit is what else is at the point; null when it is the element.
  const hit = ({ x, y }) => {
    const found = deepest(element.$getRootNode(), x, y);
    if (!found) return { outside: true };
    return other(found) ? { by: found } : null;
  };
  // other reports whether what was hit is something else than the element.
  const other = (found) => {
    if (contains(element, found)) return false;
    for (const label of element.$labels ?? []) if (contains(label, found)) return false;
    const control = found.$closest?.("button,a,label,[role=button],[role=link]");
    return !(control && contains(control, element));
  };
  // reveal scrolls the element into view, and then the point that was given.
  const reveal = (how) => {
    (image ?? element).$scrollIntoView({ behavior: "instant", ...how });
    for (let n = position && (image ?? element); n; n = parentOf(n)) {
      if (n.$nodeType !== 1) continue;
      const view =
          n === document.$scrollingElement ? new DOMRect(0, 0, innerWidth, innerHeight) : n.$getBoundingClientRect(),
        p = given();
      if (!within(p, view))
        n.$scrollBy({
          behavior: "instant",
          left: p.x - view.left - view.width / 2,
          top: p.y - view.top - view.height / 2,
        });
    }
  };
  const identify = ({ x, y }) => library.naming().identify(element, deepest(element.$getRootNode(), x, y));
  const scrolls = [
    { block: "center", inline: "center" },
    { block: "end", inline: "end" },
    { block: "start", inline: "start" },
  ];
  const same = (a, b) => a.left === b.left && a.top === b.top && a.width === b.width && a.height === b.height;

  const points = ["click", "hover", "drop"].includes(kind);
  let why = "", tried = 0;
  let calm = null, cover = null; // what is in the way
  // refusal is why it is not ready, once time is up or the page is still.
  const refusal = () => {
    calm ??= library.calm.call(element);
    const still = calm.time(cover);
    if (performance.now() <= end && still < calmTime) return null;
    return {
      why,
      is: library.naming().identify(element),
      calm: still < calmTime ? 0 : still,
      misses: /^it is (outside|covered)|^its frame/.test(why),
    };
  };
  // Scrolling cannot help for ever, and many pages change something at each time.
  const mayScroll = () => !fixed && (calm ? calm.scrolls() : true);
  try {
    for (;;) {
      if (!target.$isConnected) return { gone: true };
      if (!position) element = library.standIn.call(target);
      const style = getComputedStyle(element);
      const before = box();
      if (!before || style.visibility !== "visible" || points && collapsed() || !displayed()) why = hidden();
      else if (!usable()) why = "it is disabled";
      else if (position && !within(given(), whole()))
        why = `the position is outside of it: it is ${Math.round(whole().width)} × ${Math.round(whole().height)}`;
      else if (points && locked()) why = "the page has locked the mouse to " + describe(locked()) +
        ", which gets all clicks: press Escape (browser_press_key), which ends that";
      else if (inert()) why = "it is inert: an element around it has that attribute";
      else if (kind === "type" && field && !editable()) why = "it is not editable: it is readonly";
      else if (!points) {
        // What is not done with the pointer needs no point.
        if (asks && !(still() && alone)) return { scrolls: true };
        element.$scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
        const now = box();
        if (now && !same(before, now)) await frame(); // what the page shows then is the action's own
        const middle = now && { x: now.left + now.width / 2, y: now.top + now.height / 2 };
        if (middle) toTop(middle);
        return {
          ok: true,
          ...(middle?.top && { x: middle.x, y: middle.y }), // for the user, who sees where it happens
          top: true,
          is: library.naming().identify(element),
          field: library.fieldKind.call(element),
          still: still(),
        };
      } else {
        let p = point(before), obstacle = p && hit(p), scrolled = false;
        cover = null;
        if ((!p || obstacle) && mayScroll()) {
          if (asks && !(still() && alone)) return { scrolls: true };
          scrolled = true;
          reveal(scrolls[tried++ % scrolls.length]);
          const r = box();
          p = r && point(r);
          obstacle = p && hit(p);
        }
        const settled = box();
        const atOnce = quick && !scrolled && !moves();
        quick = false;
        if (!atOnce) await frame();
        if (!element.$isConnected) return { gone: true };
        const now = box();
        const moving = !settled || !now || !same(settled, now) || begins();
        const kept = moving && now && pivot(now);
        if (moving && !kept) {
          why = "it is moving" + (position ? "" : ": click or hover with a position (from its top left), which does " +
            "not wait until it rests");
          tried = 0;
          calm?.stir();
        } else {
          p = kept || point(now);
          obstacle = p && hit(p);
          if (!p || obstacle?.outside) why = "it is outside of what can be scrolled into view";
          else if (obstacle && style.pointerEvents === "none") why = "it takes no mouse events (pointer-events: none)";
          else if (obstacle) why = "it is covered by " + describe((cover = obstacle.by));
          else if (p.only && kind === "click")
            return { refused: describe(p.by), is: library.naming().identify(element) };
          else {
            const result = {
              ok: true,
              x: p.x,
              y: p.y,
              is: identify(p),
              still: still(),
            };
            const found = toTop(result);
            if (!found) {
              if (kind === "click") watch();
              memory.steady = atOnce && (() => steady(now, result));
              result.quick = atOnce;
              return result;
            }
            why = found;
            cover = result.by;
            if (mayScroll()) reveal(scrolls[tried++ % scrolls.length]);
          }
        }
        const refused = refusal();
        if (refused) return refused;
        continue;
      }
      const refused = refusal();
      if (refused) return refused;
      await frame();
    }
  } finally {
    calm?.end();
  }

  // pivot is where to act on an element that has moved for a while: at a point that it has kept meanwhile, as one that
  // pulses or turns does, or at the position that was given. Null: it may still come to rest.
  function pivot(r) {
    const now = performance.now(), wait = endless() ? 300 : 2000;
    if (position ? began : anchor && within(anchor, whole()) && !hit(anchor))
      return now - began > wait ? position ? point(r) : anchor : null;
    began = now;
    anchor = point(r);
    return null;
  }

  // steady reports, a frame later, whether all is as it was.
  function steady(then, { x, y }) {
    if (!element.$isConnected || !usable() || moves()) return false;
    const now = box(), p = now && same(now, then) && point(now);
    if (!p || hit(p) || toTop(p)) return false;
    return Math.abs(p.x - x) < 0.5 && Math.abs(p.y - y) < 0.5;
  }

  // watch lets the events that follow pass only if they hit the element: what
  // comes over it in between, because the mouse moves there perhaps, gets nothing.
  function watch() {
    library.clicked.call(element);
    const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "auxclick", "contextmenu"];
    let judged = false, missed = "", click = null, is; // the page may have renamed it when the mouse came
    const judge = (e) => {
      if (!e.isTrusted) return;
      if (e.type === "click") click = e;
      if (!judged && (e.type === "pointerdown" || e.type === "mousedown")) {
        judged = true;
        let by = e.composedPath()[0];
        // Of a closed shadow root the path shows the host alone: what was hit in it
        // is asked of the element's own root.
        if (by?.$nodeType === 1 && by !== element && contains(by, element))
          by = deepest(element.$getRootNode(), e.clientX, e.clientY) ?? by;
        is = library.naming().identify(element, by?.$nodeType && contains(element, by) ? by : null);
        if (by?.$nodeType && other(by))
          missed = describe(by.$nodeType === 1 ? by : (by.$parentElement ?? document.$documentElement));
      }
      if (missed) {
        e.preventDefault();
        e.stopImmediatePropagation();
      }
    };
    for (const k of kinds) addEventListener(k, judge, { capture: true, passive: false });
    const end = () => {
      for (const k of kinds) removeEventListener(k, judge, { capture: true });
      clearTimeout(timer);
      return { missed, is, prevented: !!click?.defaultPrevented };
    };
    const timer = setTimeout(end, 2000);
    memory.watched = end;
    memory.missed = Object.assign(() => missed, { of: target });
  }

  // toTop moves the point through the frames that can be reached, and counts them; it
  // returns what covers the frame there, if anything does.
  function toTop(result) {
    let w = window;
    for (result.up = 0; ; result.up++) {
      const owner = library.owner(w);
      if (!owner) {
        result.top = w === w.parent;
        return "";
      }
      Object.assign(result, library.ofContent.call(owner, result));
      const found = deepest(owner.$getRootNode(), result.x, result.y);
      result.by = found;
      if (found !== owner)
        return found
          ? "its frame is covered by " + describe(found)
          : "its frame is outside of what can be scrolled into view";
      w = w.parent;
    }
  }
}
