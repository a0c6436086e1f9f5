function () {
  // Whether a drag of HTML's has begun, and what the button was pressed on instead
  // of the element (see ready.js).
  return { began: memory.dragBegan === true, missed: memory.missed?.of === this ? memory.missed() : "" };
}
