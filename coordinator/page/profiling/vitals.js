async function () {
  // The Web Vitals of this document, from what its browser has recorded.
  const entries = (type) => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type, buffered: true });
    const found = observer.takeRecords();
    observer.disconnect();
    return found;
  };
  // The timing of an event is recorded with the frame after it.
  await new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 200);
  });
  // The layout shifts of a session window belong together. It ends after a second without
  // one, or after five.
  let cls = 0, shifts = 0, sum = 0, began = 0, last = 0;
  for (const e of entries("layout-shift").filter((e) => !e.hadRecentInput)) {
    if (!sum || e.startTime - last > 1000 || e.startTime - began > 5000) {
      sum = 0;
      began = e.startTime;
    }
    last = e.startTime;
    sum += e.value;
    cls = Math.max(cls, sum);
    shifts++;
  }
  const slowest = new Map();
  for (const e of entries("event")) {
    if (e.interactionId && !(slowest.get(e.interactionId)?.duration >= e.duration)) slowest.set(e.interactionId, e);
  }
  const counts = performance.eventCounts; // older browsers have no interactionCount
  const interactions = performance.interactionCount ?? (counts.get("pointerdown") ?? 0) + (counts.get("keydown") ?? 0);
  const inputs = [...slowest.values()].sort((a, b) => b.duration - a.duration);
  const worst = inputs[Math.floor(interactions / 50)]; // one in fifty may be an outlier
  const largest = entries("largest-contentful-paint").at(-1);
  return JSON.stringify({
    fcp: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    lcp: largest?.startTime ?? 0,
    largest: largest ? `${largest.element?.$nodeName ?? "element"} (${largest.url ? "image" : "text"})` : "",
    load: performance.getEntriesByType("navigation")[0]?.loadEventStart ?? 0,
    cls, shifts, interactions, inp: worst?.duration ?? 0, input: worst?.name ?? "",
    tasks: entries("longtask").map((e) => ({ start: e.startTime, duration: e.duration })),
  });
}
