function (outside) {
  // Remembers where something is dragged, and whether it is dropped there. The browser
  // sends a drop only where the page has accepted the drag.
  memory.wasDropped = false;
  memory.draggedOver = undefined;
  memory.watchedDrop?.abort();
  const defaultView = this.$ownerDocument.$defaultView,
    { signal } = (memory.watchedDrop = new AbortController());
  defaultView.addEventListener(
    "dragover",
    (event) => {
      memory.draggedOver = { event, over: event.composedPath()[0] };
    },
    { signal, capture: true },
  );
  defaultView.addEventListener(
    "drop",
    () => {
      memory.wasDropped = true;
    },
    { signal, capture: true },
  );
  if (!outside) return;
  // A file that no handler has taken, the browser would open in a tab.
  defaultView.addEventListener(
    "drop",
    (event) => {
      if (
        event.defaultPrevented ||
        !event.dataTransfer.types.includes("Files") ||
        event.composedPath()[0].type === "file"
      )
        return;
      event.preventDefault();
      memory.wasDropped = false;
    },
    { signal },
  );
}
