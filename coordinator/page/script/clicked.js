function () {
  // What an input event hit in place of the element (empty: nothing else; see
  // ready.js), and why a form was not sent.
  const missed = globalThis.watched?.() ?? "";
  globalThis.watched = undefined;
  return { missed, unmet: library.unmet.call(this) };
}
