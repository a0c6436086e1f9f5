function (text) {
  // Why this never holds that text, whatever else is done in the page; empty: it may.
  const { labelOf, named } = library.naming();
  if (this.$nodeName === "SELECT") return "is a <select>: select an option instead";
  if (this.$nodeName === "INPUT") {
    const type = this.$type;
    if (["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"].includes(type))
      return `is an <input type="${type}">, which takes no text`;
    const forms = {
      color: "#rrggbb",
      date: "YYYY-MM-DD",
      time: "HH:MM",
      "datetime-local": "YYYY-MM-DDTHH:MM",
      month: "YYYY-MM",
      week: "YYYY-Www",
    };
    if (type in forms || type === "range") {
      const like = document.$createElement("input"); // which makes the same of a value
      for (const name of ["type", "min", "max", "step"])
        if (this.$hasAttribute(name)) like.$setAttribute(name, this.$getAttribute(name));
      like.$value = library.valueFor.call(this, text);
      if (like.$value !== library.valueFor.call(this, text)) {
        const why = like.$value ? `would make ${JSON.stringify(like.$value)} of it`
          : `holds ${JSON.stringify(this.$value)} as before`;
        const form = forms[type] ? `: give ${forms[type]}` : "";
        return `takes no ${JSON.stringify(text)}: it is an <input type="${type}"> and ${why}${form}`;
      }
    }
    if (type === "number" && text.trim() !== "" && isNaN(Number(text)))
      return `takes numbers only, not ${JSON.stringify(text)}`;
  }
  const slider = library.slider.call(this);
  if (slider || ["INPUT", "TEXTAREA"].includes(this.$nodeName) || this.$isContentEditable || this.$editContext)
    return slider;
  const other = this.$control ? labelOf(named(this.$control)) : "the field itself";
  return `is a <${this.$localName}>, which takes no text: give ${other}`;
}
