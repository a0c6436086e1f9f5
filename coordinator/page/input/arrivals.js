(() => {
  // Watches for input of the user. globalThis.arrivals ends that and returns what there was.
  globalThis.arrivals?.();
  // A listener for the wheel would make the browser redraw the page: what only turns it is asked by a movement.
  const kinds = ["keydown", "keyup", "mousedown", "mouseup", "mousemove", "mouseover", "dragover", "drop"];
  let arrived = false;
  const note = (e) => { arrived ||= e.isTrusted; };
  for (const k of kinds) addEventListener(k, note, { capture: true, passive: true });
  globalThis.arrivals = () => {
    for (const k of kinds) removeEventListener(k, note, { capture: true });
    globalThis.arrivals = undefined;
    return { arrived, opaque: !!Document.prototype.querySelector.call(document, "embed, object, fencedframe") };
  };
  return 0;
})()
