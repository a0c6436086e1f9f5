function ({ pointer, at }) {
  // What an action on this element acts on; with the pointer, at that point of the element,
  // or where it acts without one, as far as that is in view.
  if (!this.$isConnected) return { gone: true };
  const r = pointer && [...this.$getClientRects()].find((r) => r.width > 0 && r.height > 0);
  const p = r && (at ? library.pointAt.call(this, at) : library.ownPoint.call(this, r));
  const hit = (root) => {
    const found = root.$elementFromPoint(p.x, p.y);
    const shadow = found && library.shadowOf(found);
    return (shadow && shadow !== root && hit(shadow)) || found;
  };
  return library.naming().identify(this, r ? hit(this.$getRootNode()) : null);
}
