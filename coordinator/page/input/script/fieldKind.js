function () {
  // How a field is filled.
  const control = this.nodeName === "LABEL" ? this.control ?? this : this;
  if (control.nodeName === "SELECT") return "select";
  const checked = ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
  return checked.includes(control.getAttribute("role") ?? control.type) ? "click" : "type";
}
