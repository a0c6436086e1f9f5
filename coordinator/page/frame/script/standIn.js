function (shown = library.visibility().shown) {
  // What the pointer acts on in place of this element: the label of a control that cannot be
  // seen, as the checkbox of a styled switch; else the element. A snapshot gives its ref to the
  // same one.
  if (!["checkbox", "radio", "file"].includes(this.$type)) return this;
  const { width, height } = this.$getBoundingClientRect();
  const seen = shown(this) && this.$checkVisibility({ opacityProperty: true }) && width > 1 && height > 1;
  return (!seen && [...this.$labels ?? []].find((l) => shown(l))) || this;
}
