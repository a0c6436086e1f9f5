function ({ filled, text, options = [], plain }) {
  // What a form's field has become where that is not what it was set to; else null.
  if (!this.$isConnected) return { gone: true };
  const control = this.$nodeName === "LABEL" ? this.$control ?? this : this;
  if (filled === "click") {
    const is = library.checked.call(control);
    return is === (text === "true") ? null : { is: is ? "checked" : "unchecked" };
  }
  if (filled === "select") {
    const label = (o) => o.$label.trim().replace(/\s+/g, " ");
    const chosen = [...(control.$selectedOptions ?? [])];
    if (
      chosen.length === options.length &&
      chosen.every((o) => options.some((w) => o.$value === w || label(o).toLowerCase() === w.trim().toLowerCase()))
    )
      return null;
    return chosen.length ? { value: chosen.map(label).join(", ") } : { is: "empty" };
  }
  if (["list", "options", "combobox"].includes(filled)) {
    const { squash, textOf } = library.naming();
    const input = control.$matches("input") ? control : control.$querySelector("input");
    if (control.$getAttribute("role") === "listbox" || input && !input.$value) return null; // chosen in what it lists
    const value = squash(input?.$value || textOf(control)), has = value.toLowerCase();
    if (options.every((w) => has.includes(squash(w).toLowerCase()))) return null;
    return value ? { value } : { is: "empty" };
  }
  if (control.$isContentEditable) return text.trim() && !control.$textContent.trim() ? { is: "empty" } : null;
  const value = library.held.call(control, { text, slowly: false, plain });
  return value === null ? null : value === "" ? { value, is: "empty" } : { value };
}
