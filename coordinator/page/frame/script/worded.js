function (selector, { exact, pattern, hidden, every, among }) {
  // Those of some elements that have a text (text=Save, text="Save" exactly), a role and a name
  // (role=button[name="Save"], or button "Save" as in a snapshot), a name, or a label. A part of a
  // name, in any case, counts where no name is the same, unless it is to be exact. They are
  // shown, or hidden. Of a text likewise, unless every one is to be counted. Null: the selector is unusable.
  const { squash, apart, roleOf, nameOf, skipped } = library.naming(),
    { shown } = library.visibility(),
    counts = (e) => shown(library.imageOf(e) ?? e) === !hidden;
  const all = among.filter((e) => !skipped.has(e.$nodeName));
  const holding = (some, of, wanted) => some.filter((e) => of(e).toLowerCase().includes(wanted.toLowerCase()));
  const named = (some, of, wanted) => {
    const start = wanted.endsWith("…") && wanted.slice(0, -1); // a snapshot cuts what is long
    const same = some.filter((e) => of(e) === wanted || start && of(e).startsWith(start));
    return same.length || exact ? same : holding(some, of, wanted);
  };
  if (selector.startsWith("text=")) {
    const [, quoted] = /^text=(["'])(.*)\1$/s.exec(selector)?.slice(1) ?? [];
    const wanted = squash(quoted ?? selector.slice(5));
    const of = (e, text) =>
      squash(e.$nodeName === "INPUT" ? (/^(button|submit|reset)$/.test(e.$type) ? e.$value : "") : text(e));
    const visible = (e) => (hidden ? e.$textContent : visibleText(e, shown));
    const fits = (e) =>
      pattern
        ? pattern.test(of(e, visible))
        : quoted === undefined
          ? of(e, visible).toLowerCase().includes(wanted.toLowerCase())
          : of(e, visible) === wanted;
    const smallest = [],
      bare = (s) => s.replace(/\s/g, "").toLowerCase(); // what stands apart has blanks only where it is shown
    for (const e of all.filter((e) => bare(of(e, (e) => e.$textContent)).includes(bare(wanted))).reverse()) {
      // what is inside comes first
      if (counts(e) && !smallest.some((inner) => e.$contains(inner)) && fits(e)) smallest.unshift(e);
    }
    const same = pattern || every ? [] : smallest.filter((e) => of(e, visible).toLowerCase() === wanted.toLowerCase());
    return same.length ? same : smallest;
  }
  const labelled = (e) =>
    e.$matches("input, select, textarea, button, [contenteditable], [role]") && counts(library.standIn.call(e, shown));
  if (selector.startsWith("label="))
    return named(all.filter(labelled), (e) => squash(nameOf(e, roleOf(e))), squash(selector.slice(6)));
  if (selector.startsWith("name=")) {
    const some = named(
      all.filter((e) => roleOf(e) !== "generic" && counts(library.standIn.call(e, shown))),
      (e) => squash(nameOf(e, roleOf(e))),
      squash(selector.slice(5)),
    );
    // A picture in a button has the button's name.
    return some.filter((e) => !some.some((outer) => outer !== e && outer.$contains(e)));
  }
  const [, written, , name] =
    /^role=([a-z-]+)(?:\[name=(["']?)(.*)\2\])?$/s.exec(selector) ?? /^([a-z-]+)( )"(.*)"$/s.exec(selector) ?? [];
  if (!written) return null;
  const role = { gridcell: "cell", image: "img" }[written] ?? written;
  // A snapshot has no name of them.
  const texts = ["cell", "columnheader", "rowheader", "row", "listitem"].includes(role);
  const some = all.filter((e) => roleOf(e) === role && counts(library.standIn.call(e, shown)));
  const of = (e) => squash(nameOf(e, role) || (hidden ? e.$textContent : texts ? visibleText(e, shown) : ""));
  if (pattern) return some.filter((e) => pattern.test(of(e)));
  return name === undefined ? some : named(some, of, squash(name.replace(/\\(["'\\])/g, "$1")));

  // visibleText is the text of an element without what is hidden in it, with blanks between what
  // stands apart.
  function visibleText(e, shown) {
    const seen = shown(e) && !(e.$nodeName === "DETAILS" && !e.$open);
    let s = "";
    for (const c of e.$childNodes) {
      if (c.$nodeType === 3 && seen) s += c.$nodeValue;
      else if (c.$nodeName === "BR") s += " ";
      else if (c.$nodeType === 1)
        s += apart(c, getComputedStyle(c)) ? ` ${visibleText(c, shown)} ` : visibleText(c, shown);
    }
    return s;
  }
}
