function () {
  // How a field is filled: list is a list of the page's own, which a user opens to choose from it, and combobox such
  // a one that lists what fits the typed text. What one types to search may be anything.
  const control = this.$nodeName === "LABEL" ? this.$control ?? this : this;
  if (control.$nodeName === "SELECT") return "select";
  const checked = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
  const role = control.$getAttribute("role");
  if (checked.includes(role ?? control.$type)) return "click";
  if (!library.isList.call(control)) return "type";
  if (!library.takesText.call(control)) return "list";
  const searches = control.$type === "search" || control.$closest("search, [role=search]");
  return control.$hasAttribute("aria-expanded") && !searches ? "combobox" : "type";
}
