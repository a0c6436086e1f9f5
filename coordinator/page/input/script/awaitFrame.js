function () {
  // Waits until the next frame has been drawn. A tab in the background may draw none.
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });
}
