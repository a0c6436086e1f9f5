function (elapsed) {
  // Resolves when the short animations that show or hide a part of the page, such as
  // an accordion, and that began in the last milliseconds have ended, or after half a
  // second. Others are not waited for: what they move or colour is shown already.
  const shows = /^(display|visibility|contentVisibility|clip|clipPath|(min|max)?(height|width|blockSize|inlineSize)|(grid|flex).*)$/i;
  const began = document.timeline.currentTime - elapsed;
  const short = document
    .getAnimations()
    .filter(
      (a) =>
        a.playState === "running" &&
        a.timeline === document.timeline &&
        (a.startTime ?? began) >= began &&
        a.effect.getComputedTiming().endTime <= 1000 &&
        a.effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => shows.test(property))),
    );
  if (!short[0]) return;
  const limit = new Promise((done) => setTimeout(done, 500));
  return Promise.race([limit, Promise.allSettled(short.map((a) => a.finished))]).then(() => new Promise((done) => setTimeout(done)));
}
