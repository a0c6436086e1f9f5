function ({ x, y }) {
  // The point of the viewport that is that far from this element's top left corner, inside
  // its border.
  const r = this.$getBoundingClientRect(), style = getComputedStyle(this);
  return { x: r.left + parseFloat(style.borderLeftWidth) + x, y: r.top + parseFloat(style.borderTopWidth) + y };
}
