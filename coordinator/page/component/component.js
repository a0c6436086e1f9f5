function (whole) {
  // Asks the frameworks' development builds which component rendered this element; with whole
  // also for its props and state. It runs beside the page's code and changes nothing there: what
  // the page has is read by its own data properties, so that no getter of the page runs (but see
  // stackOf and angular); a proxy's traps can. The fields of a form shadow its properties by their names.
  const dom = (e, name) => Object.getOwnPropertyDescriptor(Node.prototype, name).get.call(e);
  const parentOf = (e) => dom(e, "parentElement");
  // around is the parent, or the host of the shadow tree.
  const hostOf = Object.getOwnPropertyDescriptor(ShadowRoot.prototype, "host").get;
  const around = (e) => {
    const parent = dom(e, "parentNode");
    return parentOf(e) ?? (parent instanceof ShadowRoot ? hostOf.call(parent) : null);
  };
  const is = (o) => (typeof o === "object" || typeof o === "function") && o !== null;
  const own = (o, key) => (is(o) ? Object.getOwnPropertyDescriptor(o, key)?.value : undefined);
  const any = (o, key) => {
    for (let i = 0; is(o) && i < 10; o = Object.getPrototypeOf(o), i++) if (Object.hasOwn(o, key)) return own(o, key);
  };
  let steps = 1e5; // left to follow links of the page
  const key = (e, prefix) => Object.keys(e).find((k) => k.startsWith(prefix));
  const text = (s) => (typeof s === "string" ? s : "");
  const number = (n) => (typeof n === "number" ? n : 0);
  // stackOf calls V8's getter only, which calls the page's Error.prepareStackTrace if it has one.
  const stackOf = (error) => {
    const get = (o) => Object.getOwnPropertyDescriptor(o, "stack")?.get;
    return text(own(error, "stack") ?? (get(error) && get(error) === get(new Error()) ? error.stack : ""));
  };
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);

  // unboxed is the value in a ref of Vue or a signal of Angular.
  function unboxed(v) {
    if (!is(v)) return v;
    if (own(v, "__v_isRef") === true || (Object.hasOwn(v, "__v_isReadonly") && Object.hasOwn(v, "_value")))
      return own(v, "_value");
    if (typeof v !== "function") return v;
    const node = own(v, Object.getOwnPropertySymbols(v).find((s) => s.description === "SIGNAL"));
    return is(node) ? any(node, "value") : v;
  }
  // show is a value as a reader of code expects it, of a bounded size.
  function show(boxed, depth = 2) {
    const v = unboxed(boxed);
    if (typeof v === "string") return JSON.stringify(limit(v, 100));
    if (typeof v === "function") return "ƒ " + limit(text(own(v, "name")), 60);
    if (!is(v)) return limit(String(v), 100) + (typeof v === "bigint" ? "n" : "");
    if (v instanceof Node) return "<" + text(dom(v, "nodeName")).toLowerCase() + ">";
    if (own(v, "$$typeof")) return "<" + (text(own(v, "type")) || text(own(own(v, "type"), "name")) || "element") + ">";
    const keys = Object.keys(v), list = Array.isArray(v);
    const name = text(own(any(v, "constructor"), "name"));
    const label = list || name === "Object" ? "" : limit(name, 60) + " ";
    if (depth === 0) return list ? `[… ${keys.length}]` : label + (keys.length ? "{…}" : "{}");
    const most = list ? 5 : 12;
    const shown = keys.slice(0, most).map((k) => (list ? "" : limit(k, 60) + ": ") + property(v, k, depth - 1));
    if (keys.length > most) shown.push(`… ${keys.length - most} more`);
    return list ? "[" + shown.join(", ") + "]" : label + "{" + shown.join(", ") + "}";
  }
  function property(o, k, depth) {
    const d = Object.getOwnPropertyDescriptor(o, k);
    return d && "value" in d ? show(d.value, depth) : "(getter)";
  }
  // members are those of an object, but for the named ones.
  const members = (o, ...but) => !whole || !is(o) ? [] :
    Object.keys(o).filter((k) => !but.includes(k)).slice(0, 40).map((k) => limit(k, 60) + ": " + property(o, k, 2));

  function react(e) {
    let fiber;
    for (let x = e; x && !fiber; x = parentOf(x)) {
      const k = key(x, "__reactFiber$") ?? key(x, "__reactInternalInstance$");
      if (k) fiber = own(x, k);
    }
    if (!fiber) return null;
    const typeOf = (f) => {
      const t = own(f, "type");
      return own(t, "render") ?? own(t, "type") ?? t;
    };
    const nameOf = (f) => {
      const t = typeOf(f);
      return typeof t === "function" ? text(own(t, "displayName")) || text(own(t, "name")) : "";
    };
    // React keeps two fibers of what has rendered twice: current is the one that is shown.
    const current = (f) => {
      const parent = own(f, "return"), other = own(f, "alternate");
      if (!parent) return own(own(f, "stateNode"), "current") ?? f;
      if (other)
        for (let c = own(current(parent), "child"); c && steps-- > 0; c = own(c, "sibling"))
          if (c === other) return other;
      return f;
    };
    const owners = [];
    let component;
    for (let f = fiber; f && owners.length < 9 && steps-- > 0; f = own(f, "return")) {
      const name = nameOf(f);
      if (!name) continue;
      component ??= f;
      owners.push(name);
    }
    const source = own(fiber, "_debugSource") ?? own(own(fiber, "_debugOwner"), "_debugSource");
    const made = own(fiber, "_debugStack"); // an error, whose stack is V8's own
    const shown = whole && component ? current(component) : null;
    const types = own(shown, "_debugHookTypes"), hooks = [], state = [];
    for (let i = 0, h; i < 100 && (h = text(own(types, i))); i++) if (h !== "useContext") hooks.push(h);
    let n = 0;
    for (let hook = own(shown, "memoizedState"); is(hook) && n < 40; hook = own(hook, "next"), n++) {
      if (!Object.hasOwn(hook, "next")) { // of a class
        state.push(...members(hook));
        break;
      }
      const kind = hooks[n] ?? (own(hook, "queue") ? "useState" : "");
      if (/^use(State|Reducer|Ref|Memo)$/.test(kind)) {
        const v = own(hook, "memoizedState");
        state.push(
          kind +
            ": " +
            (kind === "useRef" ? property(v, "current", 2) : kind === "useMemo" ? show(own(v, 0)) : show(v)),
        );
      }
    }
    return {
      framework: "React", name: owners.shift() ?? "", owners, file: text(own(source, "fileName")),
      line: number(own(source, "lineNumber")), column: number(own(source, "columnNumber")),
      stack: (made instanceof Error ? stackOf(made) : "").split("\n").slice(1, 6).join("\n"),
      props: members(own(shown, "memoizedProps")), state,
    };
  }
  function vue(e) {
    let c;
    for (let x = e; x && !c; x = parentOf(x)) c = own(x, "__vueParentComponent") ?? own(x, "__vue__");
    if (!c) return null;
    const optionsOf = (i) => own(i, "type") ?? own(i, "$options");
    const nameOf = (i) => text(own(optionsOf(i), "name")) || text(own(optionsOf(i), "__name"));
    const owners = [];
    // A development build has the script's functions and imports there too.
    const setup = own(c, "devtoolsRawSetupState") ?? own(c, "setupState") ?? {};
    const outer = (i) => own(i, "parent") ?? own(i, "$parent");
    for (let i = outer(c); i && owners.length < 8; i = outer(i)) owners.push(nameOf(i));
    return {
      framework: "Vue",
      name: nameOf(c),
      owners: owners.filter(Boolean),
      file: text(own(optionsOf(c), "__file")),
      line: 0,
      column: 0,
      stack: "",
      props: members(own(c, "props") ?? own(c, "_props")),
      state: [
        ...members(
          setup,
          ...Object.keys(setup).filter((k) => typeof own(setup, k) === "function" || k === "__isScriptSetup"),
        ),
        ...members(own(c, "data") ?? own(c, "_data")),
      ],
    };
  }
  function svelte(e) {
    for (let x = e; x; x = parentOf(x)) {
      const meta = own(x, "__svelte_meta"), loc = own(meta, "loc");
      if (!loc) continue;
      const nameOf = (file) => text(file).split("/").pop().replace(/\.svelte$/, "");
      const owners = [], file = text(own(loc, "file"));
      // parent is the block or the component's tag around it, and the file that has this.
      for (let p = own(meta, "parent"); p && owners.length < 8 && steps-- > 0; p = own(p, "parent"))
        if (own(p, "type") === "component") owners.push(nameOf(own(p, "file")));
      return {
        framework: "Svelte", name: nameOf(file), owners: owners.filter(Boolean), file,
        line: number(own(loc, "line")), column: number(own(loc, "column")) + 1, stack: "", props: [], state: [],
      };
    }
    return null;
  }
  function lit(e) {
    const owners = [];
    let host, declared;
    for (let x = e; x; x = around(x)) {
      const of = any(x, "constructor"),
        properties = any(of, "_$litElement$") === true ? any(of, "elementProperties") : null;
      if (!(properties instanceof Map)) continue;
      const name = text(own(of, "name")) || dom(x, "nodeName").toLowerCase();
      if (host) owners.push(name);
      else [host, declared] = [x, { name, properties }];
    }
    if (!host) return null;
    const props = [],
      state = [];
    const add = (options, k) => {
      const list = own(options, "state") === true ? state : props;
      if (is(k) || list.length === 40) return;
      const stored = [k, Symbol.for(String(k) + " (@property() cache)")].find((name) => Object.hasOwn(host, name));
      list.push(limit(String(k), 60) + ": " + (stored ? property(host, stored, 2) : "(getter)"));
    };
    if (whole) Map.prototype.forEach.call(declared.properties, add);
    return {
      framework: "Lit",
      name: declared.name,
      owners: owners.slice(0, 8),
      file: "",
      line: 0,
      column: 0,
      stack: "",
      props,
      state,
    };
  }
  // Angular keeps its views in a module, which only its functions in window.ng read. They are
  // called only below an element that Angular has marked, may run getters of the page, and cache
  // a context in that mark.
  function angular(e) {
    const ng = own(globalThis, "ng"), path = [];
    for (let x = e; x && path.length < 1000; x = around(x)) path.push(x);
    if (!is(ng) || !path.some((x) => own(x, "__ngContext__") !== undefined)) return null;
    const ask = (name, o) => {
      try {
        const found = own(ng, name)(o);
        return is(found) ? found : null;
      } catch {
        return null; // the function does not exist, or its checks fail
      }
    };
    let c = null;
    for (const x of path) if ((c = ask("getComponent", x) ?? ask("getOwningComponent", x))) break;
    if (!c) return null;
    const infoOf = (o) => own(own(any(o, "constructor"), "ɵcmp"), "debugInfo");
    const nameOf = (o) => text(own(infoOf(o), "className")) || text(own(any(o, "constructor"), "name"));
    const outer = (o) => {
      const host = ask("getHostElement", o);
      return host && ask("getOwningComponent", host);
    };
    const owners = [];
    for (let o = outer(c); o && owners.length < 8; o = outer(o)) owners.push(nameOf(o));
    // fieldsOf are pairs of a public name and its field in the class.
    const metadata = whole ? ask("getDirectiveMetadata", c) : null;
    const fieldsOf = (kind) => {
      const names = own(metadata, kind);
      return is(names) ? Object.keys(names).slice(0, 40).map((k) => [k, text(own(names, k)) || k]) : [];
    };
    const inputs = fieldsOf("inputs"), apart = [...inputs, ...fieldsOf("outputs")].map(([, field]) => field);
    return {
      framework: "Angular", name: nameOf(c), owners: owners.filter(Boolean), file: text(own(infoOf(c), "filePath")),
      line: number(own(infoOf(c), "lineNumber")), column: 0, stack: "",
      props: inputs.map(([k, field]) => limit(k, 60) + ": " + property(c, field, 2)),
      state: members(c, "__ngContext__", ...apart),
    };
  }
  const e = dom(this, "nodeType") === 1 ? this : parentOf(this);
  return JSON.stringify(react(e) ?? vue(e) ?? svelte(e) ?? lit(e) ?? angular(e));
}
