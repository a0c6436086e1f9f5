function () {
  // Whether text that is typed while the element has the focus goes into it.
  if (this.$isContentEditable || this.$editContext) return true;
  if (this.$nodeName === "TEXTAREA") return !this.$readOnly && !this.$disabled;
  const other = ["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden", "color", "range"];
  return this.$nodeName === "INPUT" && !other.includes(this.$type) && !this.$readOnly && !this.$disabled;
}
