function (itself) {
  // What gets the keys, as identify has it; itself: the element. apart is set for a frame,
  // whose document knows more; text where it takes some. Undefined where nothing has the focus.
  const elsewhere = (e) => !e || (e.$nodeName === "BODY" || e.$nodeName === "HTML") && !e.$isContentEditable;
  let e = document.$activeElement;
  if (elsewhere(e)) return;
  for (let inner; !elsewhere((inner = library.shadowOf(e)?.$activeElement));) e = inner;
  const apart = library.showsDocument(e);
  return itself ? e : { ...library.naming().identify(e), apart, text: library.takesText.call(e) };
}
