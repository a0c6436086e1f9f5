function () {
  // How a field is filled.
  const control = this.$nodeName === "LABEL" ? this.$control ?? this : this;
  if (control.$nodeName === "SELECT") return "select";
  const checked = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
  const role = control.$getAttribute("role");
  if (checked.includes(role ?? control.$type)) return "click";
  // A list of the page's own is no field, unless one can type in it to search.
  const typed = control.$isContentEditable || ["INPUT", "TEXTAREA"].includes(control.$nodeName) && !control.$readOnly;
  return ["combobox", "listbox"].includes(role) && !typed ? "select" : "type";
}
