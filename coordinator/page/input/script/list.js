function (count) {
  // Prepares to choose so many options in a list of the page's own: whether it must be opened, takes text, or takes
  // several options, or why it is no such list.
  if (!library.isList.call(this)) {
    if (library.takesText.call(this)) return { error: "is a text field without a list: fill it" };
    const slider = library.slider.call(this);
    return { error: slider || "is neither a <select> nor a combobox or listbox: click it, and then what it opens" };
  }
  const parts = [this, ...this.$querySelectorAll("input, textarea, [aria-expanded]")];
  const open = parts.some((e) => e.$getAttribute("aria-expanded") === "true");
  memory.unopened = undefined;
  if (!open) memory.unopened = new WeakSet(library.listed.call(document.$documentElement));
  const several = (e) => e.$getAttribute("aria-multiselectable") === "true";
  const lists = [this, ...parts.flatMap((e) => [...e.$ariaControlsElements ?? []])];
  const multiple = count !== 1 || lists.some((e) => several(e) || e.$querySelector("[aria-multiselectable=true]"));
  const itself = this.$getAttribute("role") === "listbox";
  return { closed: !itself && !open, itself, multiple, typed: parts.some((e) => library.takesText.call(e)) };
}
