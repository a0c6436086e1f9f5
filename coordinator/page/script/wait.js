function ({ id, text, gone, known, budget }) {
  // Tells whether this document, without its frames, shows a text (1), another (2),
  // both (3) or neither (0), as soon as that is not what is known; looks again at
  // each change of the document and its shadow roots.
  const events = ["transitionend", "animationend", "load", "toggle"];
  const observed = new Set();
  let look;
  const observer = new MutationObserver(() => look());
  const observe = (root) => {
    if (observed.has(root)) return;
    observed.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const e of events) root.addEventListener(e, look, true);
  };
  const said = (root) => {
    observe(root);
    let all = root.body ? root.body.innerText : [...root.children].map((e) => e.innerText ?? "").join("\n");
    for (const e of root.querySelectorAll("*")) {
      const shadow = e.shadowRoot ?? globalThis.closedRoots?.get(e);
      if (shadow) all += "\n" + said(shadow);
    }
    return all;
  };
  // The frames of this process that the document is in; that of another is not
  // laid out where it is hidden.
  const hidden = () => {
    for (let w = window; w.frameElement; w = w.parent) if (!w.frameElement.checkVisibility()) return true;
    return !!document.documentElement && !document.documentElement.checkVisibility();
  };
  // As it reads: styles change a text's case and white space, and a snapshot tells it
  // without them.
  const plain = (s) => s.replace(/[\u00ad\u200b]/g, "").replace(/\s+/g, " ").trim().toLowerCase();
  text = plain(text ?? "");
  gone = plain(gone ?? "");
  const shows = () => {
    const all = plain(said(document));
    if (hidden()) return 0;
    return (text && all.includes(text) ? 1 : 0) + (gone && all.includes(gone) ? 2 : 0);
  };
  const waits = globalThis.waits ??= new Map();
  waits.get(id)?.();
  return new Promise((done) => {
    const finish = (result) => {
      observer.disconnect();
      for (const root of observed) for (const e of events) root.removeEventListener(e, look, true);
      clearTimeout(timer);
      clearInterval(now);
      waits.delete(id);
      done(result);
    };
    look = () => {
      const result = shows();
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
