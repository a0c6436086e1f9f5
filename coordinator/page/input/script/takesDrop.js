function () {
  // Whether the page has accepted what is dragged here, or a field gets it in any case. A
  // drag into a frame is not seen from here: it counts as accepted.
  if (!memory.draggedOver) return true;
  const { event, over } = memory.draggedOver;
  const field = (e) => e.$isContentEditable || e.$nodeName === "INPUT" || e.$nodeName === "TEXTAREA";
  const takes = event.defaultPrevented || field(over) || field(this); // of a closed shadow root, over is the host
  if (!takes) memory.watchedDrop.abort(); // what the user drops later is the page's
  return takes;
}
