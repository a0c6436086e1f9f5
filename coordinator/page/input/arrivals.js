(() => {
  // Watches for input of the user. memory.arrivals ends that and returns what there was.
  memory.arrivals?.();
  const { addEventListener, removeEventListener } = EventTarget.prototype; // of the window, an id may shadow them
  // A listener for the wheel would make the browser redraw the page: what only turns it is asked by a movement.
  const kinds = ["keydown", "keyup", "mousedown", "mouseup", "mousemove", "mouseover", "dragover", "drop"];
  let arrived = false;
  const note = (e) => { arrived ||= e.isTrusted; };
  for (const k of kinds) addEventListener.call(globalThis, k, note, { capture: true, passive: true });
  memory.arrivals = () => {
    for (const k of kinds) removeEventListener.call(globalThis, k, note, { capture: true });
    memory.arrivals = undefined;
    return { arrived, opaque: !!Document.prototype.querySelector.call(document, "embed, object, fencedframe") };
  };
  return 0;
})()
