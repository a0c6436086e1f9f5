function () {
  // Whether this frame's element can be seen.
  const r = this.$getBoundingClientRect(),
    { shown, unseen } = library.visibility();
  return JSON.stringify(
    r.width > 1 && r.height > 1 && shown(this) && !unseen(this) && !this.$closest("[aria-hidden=true]"),
  );
}
