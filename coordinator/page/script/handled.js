function () {
  // Resolves when the page has shown something new, or has had the time for that.
  return new Promise((done) => {
    const finish = () => {
      seen.disconnect();
      setTimeout(done);
    };
    const seen = new MutationObserver(finish);
    seen.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    setTimeout(finish, 50);
  });
}
