function (files) {
  // Whether the page has accepted what is dragged here, or a field takes it by itself. A
  // drag into a frame is not seen from here: it counts as accepted.
  if (!globalThis.draggedOver) return true;
  const { event, over } = globalThis.draggedOver;
  if (event.defaultPrevented) return true;
  return files ? over.type === "file" : over.isContentEditable || over.nodeName === "INPUT" || over.nodeName === "TEXTAREA";
}
