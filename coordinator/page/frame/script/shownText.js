function (top, { options, strict } = {}) {
  // The plain text that is shown in an element (or the document) and its shadow roots; with
  // options, also those of a closed dropdown; strict: without what no user sees.
  const { flat, skipped } = library.naming(), { displayed, collapsed, framed, unseen } = library.visibility();
  const inline = /^(inline|contents|ruby)$/; // an inline block stands apart
  function read(e) {
    if (e.$nodeName === "BR") return " ";
    if (skipped.has(e.$nodeName) || e.$nodeName === "TEXTAREA") return "";
    const style = getComputedStyle(e);
    if (!displayed(e, style)) return "";
    const sees = (n) => seen && !(strict && unseen(n));
    const seen = style.visibility === "visible" && !collapsed(e, style), closed = e.$nodeName === "DETAILS" && !e.$open;
    let s = "";
    if (e.$nodeName === "INPUT") {
      if (sees(e) && /^(button|submit|reset)$/.test(e.$type)) s = e.$value;
    } else if (e.$nodeName === "SELECT") {
      if (sees(e))
        s = [...(options || e.$multiple || e.$size > 1 ? e.$options : e.$selectedOptions)]
          .map((o) => o.$label)
          .join(" ");
    } else {
      for (const c of flat(e)) {
        if (c.$nodeType === 1) s += read(c);
        else if (c.$nodeType === 3 && !closed && (c.$nodeValue.trim() ? sees(c) : seen)) s += c.$nodeValue;
      }
    }
    return inline.test(style.display) && e.$nodeName !== "INPUT" && e.$nodeName !== "SELECT" ? s : ` ${s} `;
  }
  return library.plain(top && framed() ? read(top) : "");
}
