function (element) {
  // The control that probably shows what this element is hidden in, as a snapshot names it: one
  // that says so, the summary, or what stands before the collapsed part as its heading does.
  const { up, shown, hiddenBy } = library.visibility(), { named, labelOf } = library.naming();
  const controls = "summary, button, [role=button], [role=tab], [aria-expanded=false]";
  const collapsed = hiddenBy(element);
  const usable = (c) => c && c.$getAttribute("aria-expanded") !== "true" && !c.$contains(element) && shown(c);
  const before = (n) => {
    for (let i = 0; n && i < 3; n = up(n), i++) {
      const s = n.$previousElementSibling, c = s?.$matches(controls) ? s : s?.$querySelector(controls);
      if (c) return c;
    }
  };
  // comboboxOf is that of an option, whose list may stand anywhere.
  const comboboxOf = (option) => {
    const list = option.$closest("select, datalist, [role=listbox]"), root = option.$getRootNode();
    if (!list || list.$nodeName === "SELECT") return list;
    const id = list.$id && CSS.escape(list.$id);
    const linked = id && root.$querySelector(`[aria-controls~="${id}"], [aria-owns~="${id}"], [list="${id}"]`);
    if (linked) return linked.$querySelector("input, [role=combobox]") ?? linked;
    const comboboxes = "[role=combobox], [aria-haspopup=listbox]";
    for (let n = list, i = 0; n && i < 3; n = up(n), i++) {
      const s = n.$previousElementSibling, c = s?.$matches(comboboxes) ? s : s?.$querySelector(comboboxes);
      if (c) return c;
    }
  };
  const option = element.$closest("option, [role=option]"), combobox = option && comboboxOf(option);
  if (combobox && shown(combobox)) return labelOf(named(combobox));
  for (let n = element; n; n = up(n)) {
    const found = [
      n.$id && n.$getRootNode().$querySelector(`[aria-controls~="${CSS.escape(n.$id)}"]`),
      n.$nodeName === "DETAILS" && !n.$open && n.$querySelector(":scope > summary"),
      n === collapsed && before(n),
    ].find(usable);
    if (found) return labelOf(named(found));
  }
  return "";
}
