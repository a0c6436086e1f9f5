function () {
  globalThis.watchedDrop?.abort();
  // A drop into a frame is not seen from here: it counts as accepted.
  return globalThis.wasDropped === true || this.matches("iframe, frame, :has(iframe, frame)");
}
