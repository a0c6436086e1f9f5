function ({ text, gone, budget }) {
  // Waits until a text is shown or another is not any more; looks again at each
  // change of the document.
  const met = () => {
    const shown = document.body?.innerText ?? "";
    return (!text || shown.includes(text)) && (!gone || !shown.includes(gone));
  };
  return new Promise((done) => {
    if (met()) return done(true);
    const events = ["transitionend", "animationend", "load", "toggle"];
    const finish = (result) => {
      observer.disconnect();
      for (const e of events) removeEventListener(e, look, true);
      clearTimeout(timer);
      done(result);
    };
    const look = () => { if (met()) finish(true); };
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const e of events) addEventListener(e, look, true);
    const timer = setTimeout(() => finish(met()), budget);
  });
}
