function () {
  // Waits until what the wheel has scrolled in this document has come to rest, and the page has
  // got the events for it. A tab in the background may draw no frame.
  return new Promise((done) => {
    let moving = false;
    const began = () => { moving = true; }, ended = () => { moving = false; };
    const end = () => {
      document.$removeEventListener("scroll", began, true);
      document.$removeEventListener("scrollend", ended, true);
      done();
    };
    document.$addEventListener("scroll", began, true);
    document.$addEventListener("scrollend", ended, true);
    // The scroll begins with the next frame; its events come with that or the one after it.
    let frames = 0;
    const look = () => { if (++frames < 3 || moving) requestAnimationFrame(look); else setTimeout(end); };
    requestAnimationFrame(look);
    setTimeout(() => { if (!frames) end(); }, 100);
    setTimeout(end, 1000);
  });
}
