function () {
  // How to set the value of this element if it is a slider that is no field; else empty.
  if (this.$nodeName === "INPUT" || this.$getAttribute("role") !== "slider") return "";
  const [now, min, max] = ["now", "min", "max"].map((name) => this.$getAttribute("aria-value" + name) ?? "?");
  return `is a slider of the page's own, at ${now} of ${min} to ${max}, and no field: ` +
    `press ArrowRight or ArrowLeft, ` +
    `Home or End in it (browser_press_key with target), or drag it (browser_drag)`;
}
