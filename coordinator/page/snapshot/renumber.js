function ({ generation, numbers }) {
  // Gives elements of this document the numbers that the same ones had in the last document:
  // numbers has those of now and of then. All or nothing: no number may be of two elements.
  if (memory.generation !== generation) return "false";
  const pairs = numbers.map(([now, then]) => [memory.elements.get(now)?.deref(), then]);
  const all = new Set(pairs.map(([e]) => e));
  for (const [e, then] of pairs) {
    const other = memory.elements.get(then)?.deref();
    if (!e || other && !all.has(other)) return "false";
  }
  for (const [e, then] of pairs) {
    memory.numbers.set(e, then);
    memory.elements.set(then, new WeakRef(e));
  }
  return "true";
}
