function () {
  return globalThis.dragBegan === true;
}
