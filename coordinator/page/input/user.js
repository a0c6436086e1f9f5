(() => {
  // Notes when something was pressed in the document, and when the mouse moved, by the user or by us: a page cannot
  // make events that are trusted. memory.user.ended says that our input has ended, and memory.user.last returns how
  // many milliseconds ago the user's last input was.
  if (memory.user) return;
  const { addEventListener } = EventTarget.prototype; // of the window, an id may shadow it
  let ended = -Infinity;
  let pressed = -Infinity;
  let moves = [];
  const press = (e) => { if (e.isTrusted) pressed = e.timeStamp; };
  // The browser sends movements by nothing when the page changes below the mouse.
  const move = (e) => { if (e.isTrusted && (e.movementX || e.movementY)) moves = [...moves.slice(-7), e.timeStamp]; };
  const listen = (kind, note) => addEventListener.call(globalThis, kind, note, { capture: true, passive: true });
  for (const kind of ["keydown", "pointerdown", "pointerup"]) listen(kind, press);
  listen("mousemove", move);
  for (const [kind, prints] of [["beforeprint", true], ["afterprint", false]])
    listen(kind, (e) => { if (e.isTrusted) memory.prints = prints; });
  const ago = (time) => Math.min(performance.now() - time, 1e9);
  memory.user = {
    ended: () => { ended = performance.now(); },
    last: () => ({
      pressed: ago(pressed > ended ? pressed : -Infinity),
      // Ours are fewer than eight after the end, where one of them may arrive late.
      moved: ago(moves[7] && moves[0] > ended ? moves[7] : -Infinity),
    }),
  };
})();
