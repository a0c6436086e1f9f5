async function (wait) {
  // How the element is shown. With wait, once the mouse has moved and rests again, since the
  // browser hides a highlight when it moves; else after a second, so that nothing goes on here if
  // nobody asks again.
  if (wait) {
    const windows = [window];
    for (let w = window; library.owner(w); w = w.parent) windows.push(w.parent);
    const listen = (how, to) => {
      for (const w of windows) w[how]("pointermove", to, { capture: true, passive: true });
    };
    await new Promise((done) => {
      let rest = setTimeout(done, 1000);
      const note = () => { clearTimeout(rest); rest = setTimeout(done, 100); };
      listen("addEventListener", note);
      setTimeout(() => listen("removeEventListener", note), 1000);
    });
  }
  const r = this.$getBoundingClientRect();
  return JSON.stringify({
    gone: !this.$isConnected, sizeless: !r.width || !r.height || !this.$checkVisibility({ visibilityProperty: true }),
    away: r.right <= 0 || r.bottom <= 0 || r.left >= innerWidth || r.top >= innerHeight,
  });
}
