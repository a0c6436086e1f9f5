function (e) {
  // The shadow root of an element, also a closed one, see adopt; undefined or null: it has none.
  return e.$shadowRoot ?? memory.closedRoots.get(e);
}
