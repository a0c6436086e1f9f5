// The DOM as the browser has it. The fields of a form shadow its properties by their names,
// as <input name=parentNode> does, and images and frames those of the document. A name is
// never a symbol, so the prototypes get each property under a symbol too: where a script says
// e.$parentNode, Script has made it e[$.parentNode]. $ has the symbols, each from its first
// use on. memory is what our scripts keep: a global of theirs could be an element's id.
if (!Object.hasOwn(globalThis, "memory")) {
  const own = Object.getOwnPropertyDescriptor;
  const windows = [new WeakRef(globalThis)];
  const symbols = new Proxy({}, {
    get(_, name) {
      const symbol = Symbol.for("browser-coordinator " + name);
      Object.defineProperty(globalThis.$, name, { value: symbol });
      for (const w of windows) if (w.deref()) add(w.deref(), name, symbol);
      return symbol;
    },
  });
  function add(w, name, symbol) {
    const { Node } = w;
    if (own(Node.prototype, symbol)) return;
    // What only some elements have is not shadowed on those; the others do not have it.
    if (!(name in Node.prototype))
      Object.defineProperty(Node.prototype, symbol, {
        get() {
          return this[name];
        },
        set(value) {
          this[name] = value;
        },
      });
    for (const { prototype } of [w.HTMLFormElement, w.HTMLFrameSetElement, w.Document])
      if (!(name in prototype)) Object.defineProperty(prototype, symbol, { value: undefined });
    for (const { prototype } of [
      w.EventTarget,
      Node,
      w.CharacterData,
      w.Element,
      w.HTMLElement,
      w.HTMLFormElement,
      w.Document,
      w.DocumentFragment,
      w.ShadowRoot,
    ]) {
      const property = own(prototype, name);
      if (property) Object.defineProperty(prototype, symbol, property);
    }
  }
  Object.defineProperties(globalThis, {
    $: { value: { __proto__: symbols } },
    memory: { value: { __proto__: null, closedRoots: new WeakMap(), hosts: [] } },
    // enter lets scripts use elements of another window, which has prototypes of its own.
    enter: { value: (w) => {
      if (windows.some((known) => known.deref() === w)) return;
      windows.push(new WeakRef(w));
      for (const name of Object.getOwnPropertyNames($)) add(w, name, $[name]);
    } },
  });
}
