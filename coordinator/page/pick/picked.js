function () {
  // Describes an element that was pointed at. The selector is the
  // shortest of the usual ones that finds this element alone.
  const e = this.$nodeType === 1 ? this : this.$parentElement;
  const scope = e.$getRootNode();
  const alone = (selector) => {
    try { return scope.$querySelectorAll(selector).length === 1; } catch { return false; }
  };
  const name = (s) => CSS.escape(s);
  const tag = e.$localName;
  // Ids and classes that a program made up differ at the next load.
  const stable = (s) => s && s.length < 60 && !/\d{3,}|[:{}]|(^|[-_])[a-z0-9]*\d[a-z0-9]{4,}$/i.test(s);
  function own(x) {
    const candidates = [];
    if (stable(x.$id)) candidates.push("#" + name(x.$id));
    for (const a of [
      "data-testid",
      "data-test",
      "data-cy",
      "name",
      "aria-label",
      "alt",
      "title",
      "placeholder",
      "href",
    ]) {
      const v = x.$getAttribute(a);
      if (v && v.length < 80) candidates.push(`${x.$localName}[${a}=${JSON.stringify(v)}]`);
    }
    const classes = [...x.$classList].filter(stable).slice(0, 3);
    if (classes.length) candidates.push(x.$localName + classes.map((c) => "." + name(c)).join(""));
    candidates.push(x.$localName);
    return candidates;
  }
  function nth(x) {
    const like = [...(x.$parentElement?.$children ?? [])].filter((s) => s.$localName === x.$localName);
    return like.length > 1 ? `${x.$localName}:nth-of-type(${like.indexOf(x) + 1})` : x.$localName;
  }
  function selectorOf() {
    const direct = own(e).find(alone);
    if (direct) return direct;
    let path = nth(e);
    for (let x = e.$parentElement; x; x = x.$parentElement) {
      const anchor = own(x).slice(0, -1).find((s) => alone(`${s} > ${path}`));
      if (anchor) return `${anchor} > ${path}`;
      path = `${nth(x)} > ${path}`;
      if (alone(path)) return path;
    }
    return path;
  }
  const secret = e.$type === "password";
  const attributes = Object.fromEntries([...e.$attributes].slice(0, 30)
    .filter((a) => a.$name !== "value" || !secret)
    .map((a) => [a.$name, a.$value.length > 200 ? a.$value.slice(0, 200) + "…" : a.$value]));
  const text = (e.$innerText ?? e.$textContent ?? "").replace(/\s+/g, " ").trim();
  return JSON.stringify({
    selector: selectorOf(),
    tag,
    text: text.length > 200 ? text.slice(0, 200) + "…" : text,
    attributes,
  });
}
