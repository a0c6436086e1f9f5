function () {
  // Remembers whether a drag begins here that the page itself does not handle.
  globalThis.dragBegan = false;
  this.ownerDocument.defaultView.addEventListener("dragstart", (e) => { globalThis.dragBegan = !e.defaultPrevented; }, { once: true });
}
