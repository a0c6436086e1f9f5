function () {
  // Whether a drag of HTML's has begun, and what the button was pressed on instead
  // of the element (see ready.js).
  return { began: globalThis.dragBegan === true, missed: globalThis.missed?.of === this ? globalThis.missed() : "" };
}
