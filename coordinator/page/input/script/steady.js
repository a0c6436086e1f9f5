function () {
  // Whether what ready.js has found without waiting for a frame still holds.
  return !!memory.steady?.();
}
