function (e) {
  // Whether an element shows a document of its own: a frame, and what else may show one, not an image.
  if (/^I?FRAME$/.test(e.$nodeName)) return true;
  if (e.$nodeName === "OBJECT") return !!e.$contentWindow;
  if (e.$nodeName !== "EMBED") return false;
  // It does not give its window. One of another process does not give its element either.
  const others = new Set([...document.$querySelectorAll("iframe, frame, object")].map((f) => f.$contentWindow));
  return Array.from({ length: window.length }, (_, i) => window[i]).some((w) => {
    const owner = library.owner(w);
    return owner ? owner === e : !others.has(w);
  });
}
