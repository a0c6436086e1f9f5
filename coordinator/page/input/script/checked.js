function () {
  // A label is as the control that it stands for.
  const control = this.$nodeName === "LABEL" ? this.$control ?? this : this;
  return control.$checked ?? control.$getAttribute("aria-checked") === "true";
}
