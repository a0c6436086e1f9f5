function () {
  // Whether this opens, or is, a list of the page's own, in which a user chooses.
  const role = this.$getAttribute("role");
  return role === "combobox" || role === "listbox" || this.$getAttribute("aria-haspopup") === "listbox";
}
