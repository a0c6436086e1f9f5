function ({ type, text, options }) {
  // Why a form's field cannot be filled so; empty: it can, or another field may change that.
  const kind = ["checkbox", "radio"].includes(type) ? "click" : library.fieldKind.call(this);
  const control = this.$nodeName === "LABEL" ? this.$control ?? this : this;
  if (kind === "list") return "";
  if (kind === "select")
    return options && options.length !== 1 && !control.$multiple ? "takes one option" : "";
  if (options) return "takes one value, not a list";
  if (kind === "click") return /^(true|false)$/i.test(text) ? "" : `takes true or false, not ${JSON.stringify(text)}`;
  return library.refusal.call(this, text) ||
    (control.$readOnly ? "is not editable: it is readonly. The page may set it when it is clicked" : "");
}
