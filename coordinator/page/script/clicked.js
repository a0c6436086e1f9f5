function () {
  // What an input event hit in place of the element; empty: nothing else. See
  // ready.js.
  const missed = globalThis.watched?.() ?? "";
  globalThis.watched = undefined;
  return missed;
}
