function () {
  // Whether this frame's element can be seen.
  const r = this.getBoundingClientRect();
  return JSON.stringify(r.width > 1 && r.height > 1 && this.checkVisibility({ visibilityProperty: true }) && !this.closest("[aria-hidden=true]"));
}
