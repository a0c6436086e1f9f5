function ({ id, text, gone, known, another, before, budget }) {
  // Reports whether this document, without its frames, shows a text (1) and another (2), or a live
  // region has shown the first since the agent's last answer (4), as the sum, as soon as that is not
  // what is known; looks again at each change of the document and its shadow roots. With another,
  // the text has to be there more often than before times; -1: than it is now. before falls when the
  // text goes.
  const events = ["transitionend", "animationend", "load", "toggle"];
  const observed = new Set();
  let look;
  const observer = new MutationObserver(() => look());
  const observe = (root) => {
    if (observed.has(root)) return;
    observed.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const e of events) root.$addEventListener(e, look, true);
  };
  const innerText = (root) => {
    observe(root);
    let all = root.$body ? root.$body.$innerText : [...root.$children].map((e) => e.$innerText ?? "").join("\n");
    for (const e of root.$querySelectorAll("*")) {
      const shadow = library.shadowOf(e);
      if (shadow) all += "\n" + innerText(shadow);
    }
    return all;
  };
  // The frames of this process that the document is in; that of another is not
  // laid out where it is hidden.
  const hidden = () =>
    !library.visibility().framed() || (!!document.$documentElement && !document.$documentElement.$checkVisibility());
  const { plain, shownText } = library;
  text = plain(text ?? "");
  gone = plain(gone ?? "");
  const flags = (all) => {
    const count = text && all.split(text).length - 1;
    if (another) before = before < 0 ? count : Math.min(before, count);
    const shown = count > (another ? before : 0) ? 1 : text && !another && memory.watch?.hasPassed(text) ? 4 : 0;
    return shown + (gone && all.includes(gone) ? 2 : 0);
  };
  const shows = () => {
    const shown = plain(innerText(document));
    if (hidden()) return flags("");
    // A frame in a tab in the background may have no boxes yet.
    if (!document.$body?.$checkVisibility()) return flags(shown);
    // innerText has what is only clipped, and lacks what is skipped because it is out of sight.
    const all = shown + plain(document.$documentElement.$textContent);
    if (![text, gone].some((wanted) => wanted && wanted.split(" ").every((word) => all.includes(word))))
      return flags("");
    return flags(shownText(document.$documentElement, { options: true }));
  };
  const waits = memory.waits ??= new Map();
  waits.get(id)?.();
  return new Promise((done) => {
    const finish = (result) => {
      observer.disconnect();
      for (const root of observed) for (const e of events) root.$removeEventListener(e, look, true);
      clearTimeout(timer);
      clearInterval(now);
      clearTimeout(later);
      waits.delete(id);
      done({ seen: result, before });
    };
    // A page that changes all the time keeps most of its time.
    let next = 0, later;
    look = () => {
      clearTimeout(later);
      const began = performance.now();
      if (began < next) {
        later = setTimeout(look, next - began);
        return;
      }
      const result = shows(), took = performance.now() - began;
      next = began + 4 * took;
      if (result !== known) finish(result);
    };
    waits.set(id, () => finish(known));
    const timer = setTimeout(() => finish(known), budget);
    // A shadow root that is attached, or a frame that is hidden, is no change that an
    // observer sees.
    const now = setInterval(look, 250);
    look();
  });
}
