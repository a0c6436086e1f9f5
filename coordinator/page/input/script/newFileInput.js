function () {
  return Object.assign(this.$ownerDocument.createElement("input"), { type: "file", multiple: true });
}
