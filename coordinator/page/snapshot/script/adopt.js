function (root) {
  // Keeps a closed shadow root of this element, which the browser has reported:
  // its elements can be seen and acted on like those of an open one. Without one
  // the element is not asked about again.
  memory.asked.add(this);
  if (!root) return;
  memory.closedRoots.set(this, root);
  memory.watch?.look(this);
}
