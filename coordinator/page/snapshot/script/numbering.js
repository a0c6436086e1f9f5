function ({ generation, lost }) {
  // Begins a call that numbers elements, in our isolated world. A number is never used
  // twice, and all of them go with the document. One that comes back from the back/forward
  // cache starts anew. If the result of the last call was lost, this returns the numbers and
  // labels that it had, which nobody else gets meanwhile.
  if (memory.generation !== generation) {
    memory.generation = generation;
    memory.numbers = new WeakMap();
    memory.elements = new Map();
    memory.semantics = new WeakMap();
    memory.plain = new Set();
    memory.anySemantics = false;
    memory.called = new WeakMap();
    memory.watch?.end();
    memory.watch = undefined;
    memory.given = [];
  }
  if (!lost) memory.given = [];
  return memory.given
    .map((n) => [n, memory.elements.get(n)?.deref()])
    .filter(([, e]) => e)
    .flatMap(([n, e]) => [n, memory.called.get(e)]);
}
