function ({ text, gone, budget }) {
  // Waits until a text is shown or another is not any more; looks again at each
  // change of the document, its shadow roots and the frames of its process.
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
  const shown = (root) => {
    observe(root);
    let all = root.body ? root.body.innerText : [...root.children].map((e) => e.innerText ?? "").join("\n");
    for (const e of root.querySelectorAll("*")) {
      if (e.shadowRoot) all += "\n" + shown(e.shadowRoot);
      else if (e.localName === "iframe" || e.localName === "frame") {
        try {
          if (e.contentDocument && e.checkVisibility()) all += "\n" + shown(e.contentDocument);
        } catch { } // another process's
      }
    }
    return all;
  };
  const met = () => {
    const all = shown(document);
    return (!text || all.includes(text)) && (!gone || !all.includes(gone));
  };
  return new Promise((done) => {
    const finish = (result) => {
      observer.disconnect();
      for (const root of observed) for (const e of events) root.removeEventListener(e, look, true);
      clearTimeout(timer);
      clearInterval(now);
      done(result);
    };
    look = () => { if (met()) finish(true); };
    const timer = setTimeout(() => finish(met()), budget);
    // A shadow root that is attached is no change that an observer sees.
    const now = setInterval(look, 250);
    look();
  });
}
