function () {
  // Remembers whether something is dropped here. The browser sends a drop only
  // where the page has accepted the drag.
  globalThis.wasDropped = false;
  this.ownerDocument.defaultView.addEventListener("drop", () => { globalThis.wasDropped = true; }, { once: true, capture: true });
}
