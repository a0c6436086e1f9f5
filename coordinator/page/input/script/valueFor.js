function (text) {
  // A text as the browser writes it in a field of this type.
  if (this.$type === "datetime-local") return text.trim().replace(" ", "T");
  return this.$type === "color" ? text.toLowerCase() : text;
}
