function (itself) {
  // What gets the keys, as identify has it; itself: the element. apart is set for a frame
  // of another process, which knows more; text where it takes some. Undefined where nothing
  // has the focus.
  const elsewhere = (e) => !e || (e.$nodeName === "BODY" || e.$nodeName === "HTML") && !e.$isContentEditable;
  let e = document.$activeElement, apart = false;
  if (elsewhere(e)) return;
  for (;;) {
    let inner = (e.$shadowRoot ?? memory.closedRoots?.get(e))?.$activeElement;
    if (e.$nodeName === "IFRAME" || e.$nodeName === "FRAME") {
      const content = e.$contentDocument;
      apart = !content;
      if (content) enter(e.$contentWindow);
      inner = content?.$activeElement;
    }
    if (elsewhere(inner)) break;
    e = inner;
  }
  return itself ? e : { ...library.naming().identify(e), apart, text: library.takesText.call(e) };
}
