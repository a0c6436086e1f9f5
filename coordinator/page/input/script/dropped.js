function () {
  return globalThis.wasDropped === true;
}
