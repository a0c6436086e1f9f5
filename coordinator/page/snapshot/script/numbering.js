function ({ generation, lost }) {
  // Begins a call that numbers elements, in our isolated world. A number is never used
  // twice, and all of them go with the document. One that comes back from the back/forward
  // cache starts anew. If the result of the last call was lost, this returns the numbers and
  // labels that it had, which nobody else gets meanwhile.
  if (globalThis.generation !== generation) {
    globalThis.generation = generation;
    globalThis.numbers = new WeakMap();
    globalThis.elements = new Map();
    globalThis.closedRoots = new WeakMap();
    globalThis.asked = new WeakSet();
    globalThis.called = new WeakMap();
    globalThis.watch?.end();
    globalThis.watch = undefined;
    globalThis.given = [];
  }
  if (!lost) globalThis.given = [];
  return globalThis.given.map((n) => [n, globalThis.elements.get(n)?.deref()]).filter(([, e]) => e).flatMap(([n, e]) => [n, globalThis.called.get(e)]);
}
