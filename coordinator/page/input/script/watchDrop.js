function (outside) {
  // Remembers where something is dragged, and whether it is dropped there. The browser
  // sends a drop only where the page has accepted the drag.
  globalThis.wasDropped = false;
  globalThis.draggedOver = undefined;
  globalThis.watchedDrop?.abort();
  const { defaultView } = this.ownerDocument, { signal } = (globalThis.watchedDrop = new AbortController());
  defaultView.addEventListener("dragover", (event) => { globalThis.draggedOver = { event, over: event.composedPath()[0] }; }, { signal, capture: true });
  defaultView.addEventListener("drop", () => { globalThis.wasDropped = true; }, { signal, capture: true });
  if (!outside) return;
  // A file that no handler has taken, the browser would open in a tab.
  defaultView.addEventListener("drop", (event) => {
    if (event.defaultPrevented || !event.dataTransfer.types.includes("Files") || event.composedPath()[0].type === "file") return;
    event.preventDefault();
    globalThis.wasDropped = false;
  }, { signal });
}
