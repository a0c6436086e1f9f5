async function (elapsed, wait) {
  // Reports whether short animations run that show or hide a part of the page, such as
  // an accordion, and that began in the last milliseconds. Others do not count: what
  // they move or colour is shown already. With wait, it resolves when they have ended,
  // or after half a second.
  const began = document.$timeline.currentTime - elapsed;
  // What the page has put off until the next task, it has done then.
  if (!wait)
    await new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        done();
      };
      port2.postMessage(0);
    });
  const shows =
    /^(display|visibility|contentVisibility|clip(Path)?|(min|max)?(height|width|blockSize|inlineSize)|(grid|flex).*)$/i;
  const short = document
    .getAnimations()
    .filter(
      (a) =>
        a.playState === "running" &&
        a.timeline === document.$timeline &&
        (a.startTime ?? began) >= began &&
        a.effect.getComputedTiming().endTime <= 1000 &&
        a.effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => shows.test(property))),
    );
  if (!wait) return short.length > 0;
  if (!short[0]) return;
  const limit = new Promise((done) => setTimeout(done, 500));
  return Promise.race([limit, Promise.allSettled(short.map((a) => a.finished))]).then(
    () => new Promise((done) => setTimeout(done)),
  );
}
