// What a test asks of the page's layout, in the page and in the frame of its live view.
(() => {
  const controlsOf = "button, select, input, textarea, summary, a[href], [tabindex]";
  const documents = () => [document, ...[...document.querySelectorAll("iframe")].map((each) => each.contentDocument)];
  const visible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const name = (element) => {
    const text = (element.ariaLabel ?? element.textContent).trim().replace(/\s+/g, " ");
    return `${element.tagName.toLowerCase()}${element.id && `#${element.id}`} “${text.slice(0, 60)}”`;
  };
  const usable = (element) => visible(element) && !element.disabled && element.tabIndex >= 0;
  window.controls = () => documents().flatMap((each) => [...each.querySelectorAll(controlsOf)].filter(usable));

  /** The part of a box that the elements around it show. */
  function shown(element, box) {
    let { left, top, right, bottom } = box;
    for (let each = element; each; each = each.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(each);
      const clip = each.getBoundingClientRect();
      if (overflowX !== "visible") [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
    }
    return { left, top, right, bottom };
  }

  /** Each text in sight, with its box. */
  function texts(of) {
    const all = [];
    const walker = of.createTreeWalker(of.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === "" || element.closest("option, script, style, .unseen") || !visible(element)) continue;
      const range = of.createRange();
      range.selectNodeContents(node);
      all.push({ element, box: range.getBoundingClientRect() });
    }
    return all;
  }

  /** Why a text cannot be read; a shortened one can be in its tooltip, and one below the window by scrolling. */
  function cut({ element, box }) {
    for (let each = element; each; each = each.parentElement) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(each);
      const clip = each.getBoundingClientRect();
      if (textOverflow === "ellipsis" && each.title !== "") return;
      const sideways = box.left < clip.left - 1 || box.right > clip.right + 1;
      if (overflowX !== "visible" && sideways) return `is cut off at the side by ${name(each)}`;
      const isScrolled = overflowY === "auto" || overflowY === "scroll";
      if (overflowY !== "visible" && !isScrolled && (box.top < clip.top - 1 || box.bottom > clip.bottom + 1))
        return `is cut off by ${name(each)}`;
      if (isScrolled) return;
    }
  }

  function overlaps(all) {
    const flaws = [];
    for (const [index, one] of all.entries())
      for (const other of all.slice(index + 1)) {
        if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
        const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (width > 2 && height > 2) flaws.push(`${name(one.element)} overlaps ${name(other.element)}`);
      }
    return flaws;
  }

  window.flaws = () =>
    documents().flatMap((of) => {
      const flaws = [];
      const { innerWidth } = of.defaultView;
      for (const each of of.querySelectorAll("*")) {
        const scrolls = ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
        const mayScroll = each.id !== "screen" && visible(each) && (scrolls || each === of.documentElement);
        if (mayScroll && each.scrollWidth > each.clientWidth)
          flaws.push(`${name(each)} scrolls sideways`);
      }
      const used = [...of.querySelectorAll(controlsOf)].filter(visible);
      for (const each of used) {
        const { left, right, width, height } = each.getBoundingClientRect();
        if (left < 0 || right > innerWidth) flaws.push(`${name(each)} is outside the window: ${left} to ${right}`);
        if (width < 23.5 || height < 23.5) flaws.push(`${name(each)} is too small to be hit: ${width} × ${height}`);
      }
      const all = texts(of);
      for (const each of all) {
        const why = cut(each);
        if (why) flaws.push(`${name(each.element)} ${why}`);
      }
      const boxes = [
        ...all.map(({ element, box }) => ({ element, box: shown(element, box) })),
        ...used.map((element) => ({ element, box: shown(element, element.getBoundingClientRect()) })),
      ].filter(({ element }) => !element.closest("#dialog"));
      return [...flaws, ...overlaps(boxes)];
    });

  const reached = new Set();
  window.forget = () => reached.clear();
  window.unreached = () => controls().filter((each) => !reached.has(each)).map(name);

  /** Notes what has the focus; why its user does not see that. */
  window.focusFlaw = () => {
    let { activeElement } = document;
    activeElement = activeElement.contentDocument?.activeElement ?? activeElement;
    if (activeElement === activeElement.ownerDocument.body) return "";
    reached.add(activeElement);
    const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
    if (outlineStyle === "none" || Number.parseFloat(outlineWidth) < 1) return `${name(activeElement)} shows no focus`;
    const { left, top, right, bottom } = activeElement.getBoundingClientRect();
    const { innerWidth, innerHeight } = activeElement.ownerDocument.defaultView;
    const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    return isSeen ? "" : `${name(activeElement)} has the focus out of sight`;
  };
})();
