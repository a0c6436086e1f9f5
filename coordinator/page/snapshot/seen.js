function () {
  // Whether this frame's element can be seen.
  const r = this.getBoundingClientRect();
  return JSON.stringify(r.width > 1 && r.height > 1 && library.visibility().shown(this) && !this.closest("[aria-hidden=true]"));
}
