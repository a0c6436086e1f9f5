function ({ generation, lost }) {
  // Begins a call that numbers elements, in our isolated world. A number is never used
  // twice, and all of them go with the document. One that comes back from the back/forward
  // cache starts anew.
  if (globalThis.generation !== generation) {
    globalThis.generation = generation;
    globalThis.numbers = new WeakMap();
    globalThis.elements = new Map();
    globalThis.closedRoots = new WeakMap();
    globalThis.asked = new WeakSet();
    globalThis.called = new WeakMap();
    globalThis.watch?.end();
    globalThis.watch = undefined;
  } else if (lost) {
    // The result of the last call has not arrived, so its numbers may be given elsewhere.
    const { numbers, elements, called } = globalThis;
    for (const n of globalThis.given) {
      const e = elements.get(n)?.deref();
      elements.delete(n);
      numbers.delete(e);
      called.delete(e);
    }
    globalThis.watch?.end();
    globalThis.watch = undefined;
  }
  globalThis.given = []; // the numbers of this call
}
