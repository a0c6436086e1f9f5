function () {
  memory.watchedDrop?.abort();
  // A drop into a frame is not seen from here: it counts as accepted.
  return memory.wasDropped === true || this.$matches("iframe, frame, :has(iframe, frame)");
}
