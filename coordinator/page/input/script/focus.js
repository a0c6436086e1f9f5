function () {
  // Gives the focus to the element, for the keys that follow.
  this.$focus();
  const focused = this.$getRootNode().$activeElement;
  return focused && this.$contains(focused)
    ? {}
    : { error: "takes no focus, so no key: click it, or press the key without a target" };
}
