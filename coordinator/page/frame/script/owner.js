function (w) {
  // The frame element that a window is in; null if that cannot be reached, because it is of
  // another origin, or there is none.
  try {
    if (w.frameElement) enter(w.parent);
    return w.frameElement;
  } catch {
    return null;
  }
}
