function () {
  // The one rule for what of a document is shown, for all that reads it or acts in it. What it
  // learns of a document holds for one use: take a new one for each.
  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host;
  const up = (e) => { let n = parentOf(e); while (n && n.$nodeType !== 1) n = parentOf(n); return n; };

  // A box of no height or width shows nothing of what it clips. A visually hidden text, which
  // is for screen readers, has a box of a pixel instead: it counts as shown.
  const contentless = new Set(
    "INPUT TEXTAREA SELECT OPTION OPTGROUP IMG VIDEO AUDIO CANVAS OBJECT EMBED HR".split(" "),
  );
  const boxless = /^(contents|ruby|(inline-)?table(?!-cell))/;
  const nothing = /^(circle|ellipse)\(0(px|%)/;
  const isViewport = (e) => {
    const root = e.$ownerDocument.$documentElement, body = e.$ownerDocument.$body;
    return e === root || e === body && getComputedStyle(root).overflow === "visible";
  };
  // length is a length of a style in pixels.
  const length = (value, whole) => parseFloat(value) * (value.endsWith("%") ? whole / 100 : 1) || 0;
  function cutsAway({ clipPath, clip, position }, e) {
    const width = e.$offsetWidth, height = e.$offsetHeight;
    if (width === 1 || height === 1) return false;
    const inset = /^inset\(([^)]*?)( round .*)?\)$/.exec(clipPath)?.[1].split(" ");
    if (inset) {
      const [top, right = top, bottom = top, left = right] = inset;
      if (length(top, height) + length(bottom, height) >= height || length(left, width) + length(right, width) >= width)
        return true;
    }
    const rect = /^(absolute|fixed)$/.test(position) && /^rect\((.*)\)$/.exec(clip)?.[1].split(", ");
    const edge = (i, automatic) => (rect[i] === "auto" ? automatic : length(rect[i]));
    return nothing.test(clipPath) || !!rect && (edge(2, height) <= edge(0, 0) || edge(1, width) <= edge(3, 0));
  }
  // hides reports whether nothing of an element's content is shown: "all", or "clip" where
  // what is positioned outside of it is. Each style that is read takes time.
  function hides(e, style) {
    const { clipPath, clip, overflow } = style,
      folded = e.$hidden === "until-found";
    if ((overflow === "visible" && clipPath === "none" && clip === "auto" && !folded) || contentless.has(e.$nodeName))
      return "";
    if (cutsAway(style, e)) return "all";
    if (style.display === "inline" && e.$nodeName !== "IFRAME" || boxless.test(style.display)) return "";
    if (folded && style.contentVisibility === "hidden") return "all";
    const clips =
      (style.overflowX !== "visible" && e.$clientWidth === 0) ||
      (style.overflowY !== "visible" && e.$clientHeight === 0);
    return clips && !e.$ownerSVGElement && !isViewport(e) ? "clip" : "";
  }

  // holds reports whether what is in an element is positioned in it.
  const holdsAll = ({
    transform,
    translate,
    rotate,
    scale,
    perspective,
    filter,
    backdropFilter,
    contain,
    contentVisibility,
    willChange,
  }) =>
    [transform, translate, rotate, scale, perspective, filter, backdropFilter].some(
      (value) => value && value !== "none",
    ) ||
    /paint|layout|strict|content/.test(contain) ||
    contentVisibility !== "visible" ||
    /transform|translate|rotate|scale|perspective|filter|contain/.test(willChange);
  const holds = (style, position) =>
    style.display !== "contents" && ((position === "absolute" && style.position !== "static") || holdsAll(style));

  // inside is what hides the content of an element, by how that is positioned: the outermost
  // of the elements that do.
  const open = { flow: null, absolute: null, fixed: null };
  const known = new Map();
  function inside(e, style) {
    let is = known.get(e);
    if (is) return is;
    style ??= getComputedStyle(e);
    const around = outside(e), how = hides(e, style);
    is = around;
    if (around !== open || how) {
      const by = hiddenBy(e) ?? (how ? e : null);
      is =
        how === "all"
          ? { flow: by, absolute: by, fixed: by }
          : {
              flow: by,
              absolute: holds(style, "absolute") ? by : around.absolute,
              fixed: holds(style, "fixed") ? by : around.fixed,
            };
      if (!is.flow && !is.absolute && !is.fixed) is = open;
    }
    known.set(e, is);
    return is;
  }

  // outside is what hides an element, by how that is positioned. Nothing clips the top layer.
  function outside(e) {
    const parent = up(e), around = parent ? inside(parent) : open;
    return around !== open && e.$matches(":modal, :popover-open, :fullscreen") ? open : around;
  }

  // hiddenBy is the outermost element around this one that shows nothing of it.
  function hiddenBy(e) {
    const around = outside(e);
    if (around === open) return null;
    const { display, position } = getComputedStyle(e);
    return around[display !== "contents" && position in around ? position : "flow"];
  }

  // collapsed is hiddenBy, or the element itself if it shows nothing of its content.
  const collapsed = (e, style) => inside(e, style).flow;
  // displayed reports whether an element takes part in the page, seen or not. With
  // display: contents it has no box, but its content has.
  const displayed = (e, style = getComputedStyle(e)) =>
    e.$checkVisibility() || (style.display === "contents" && (!up(e) || displayed(up(e))));
  const shown = (e, style = getComputedStyle(e)) =>
    style.visibility === "visible" && displayed(e, style) && !collapsed(e, style);
  // framed reports whether the frames that this document is in are shown, as far as that can be seen.
  function framed() {
    for (let w = window, owner; (owner = library.owner(w)); w = w.parent) if (!shown(owner)) return false;
    return true;
  }
  // unseen reports whether no user sees an element, or a text, that is shown: it is
  // transparent, has no size, or lies where nobody can scroll to.
  function unseen(n) {
    // A transparent control lies on what is drawn for it.
    let e = /^(INPUT|SELECT)$/.test(n.$nodeName) || n.$nodeType !== 1 ? up(n) : n;
    while (e && getComputedStyle(e).display === "contents") e = up(e);
    if (e && !e.$checkVisibility({ opacityProperty: true })) return true;
    const content = document.$createRange();
    content.selectNodeContents(n);
    const boxes = [n.$nodeType === 1 && n.$getBoundingClientRect(), content.getBoundingClientRect()].filter(
      (box) => box && box.width && box.height,
    );
    let x = scrollX,
      y = scrollY,
      anyX = false,
      anyY = false; // what is left or above can be scrolled to
    for (; e; e = up(e)) {
      const { direction, flexDirection, writingMode } = getComputedStyle(e);
      if (direction === "rtl") anyX = true;
      if (flexDirection.endsWith("-reverse") || writingMode !== "horizontal-tb") anyX = anyY = true;
      if (e === document.$documentElement || e === document.$scrollingElement) continue;
      x += e.$scrollLeft;
      y += e.$scrollTop;
    }
    return !boxes.some((box) => (anyX || box.right + x > 0) && (anyY || box.bottom + y > 0));
  }
  // inView is the part of a box of an element that the boxes around it do not clip, wherever the window is scrolled
  // to; null: there is none.
  function inView(e, { left, top, right, bottom }) {
    let { position } = getComputedStyle(e);
    for (let n = up(e), inner = e; n && !inner.$matches(":modal, :popover-open, :fullscreen"); inner = n, n = up(n)) {
      const style = getComputedStyle(n);
      if (/^(absolute|fixed)$/.test(position) && !holds(style, position)) continue;
      position = style.position;
      if (isViewport(n) || style.display === "inline" || style.display === "contents") continue;
      const r = n.$getBoundingClientRect();
      if (style.overflowX !== "visible") (left = Math.max(left, r.left)), (right = Math.min(right, r.right));
      if (style.overflowY !== "visible") (top = Math.max(top, r.top)), (bottom = Math.min(bottom, r.bottom));
    }
    return right - left >= 1 && bottom - top >= 1 ? new DOMRect(left, top, right - left, bottom - top) : null;
  }
  return { up, inView, hiddenBy, collapsed, displayed, shown, framed, unseen };
}
