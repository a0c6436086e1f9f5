function (pointer) {
  // What an action on this element acts on; with the pointer, at the middle of the element
  // as far as that is in view.
  if (!this.isConnected) return { gone: true };
  const r = pointer && [...this.getClientRects()].find((r) => r.width > 0 && r.height > 0);
  const hit = (root) => {
    const found = root.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
    return (found?.shadowRoot && found.shadowRoot !== root && hit(found.shadowRoot)) || found;
  };
  return library.naming().identify(this, r ? hit(this.getRootNode()) : null);
}
