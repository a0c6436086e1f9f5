function (whole) {
  // Asks the frameworks' development builds which component rendered this element; with whole
  // also for its props and state. It runs beside the page's code and changes nothing there: what
  // the page has is read by its own data properties, so that no getter of the page runs. The
  // fields of a form shadow its properties by their names.
  const dom = (e, name) => Object.getOwnPropertyDescriptor(Node.prototype, name).get.call(e);
  const parentOf = (e) => dom(e, "parentElement");
  const is = (o) => (typeof o === "object" || typeof o === "function") && o !== null;
  const own = (o, key) => (is(o) ? Object.getOwnPropertyDescriptor(o, key)?.value : undefined);
  const any = (o, key) => {
    for (let i = 0; is(o) && i < 10; o = Object.getPrototypeOf(o), i++) if (Object.hasOwn(o, key)) return own(o, key);
  };
  let steps = 1e5; // left to follow links of the page
  const key = (e, prefix) => Object.keys(e).find((k) => k.startsWith(prefix));
  const text = (s) => (typeof s === "string" ? s : "");
  const number = (n) => (typeof n === "number" ? n : 0);
  // stackOf calls V8's getter only.
  const stackOf = (error) => {
    const get = (o) => Object.getOwnPropertyDescriptor(o, "stack")?.get;
    return text(own(error, "stack") ?? (get(error) && get(error) === get(new Error()) ? error.stack : ""));
  };
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);

  // show is a value as a reader of code expects it, of a bounded size.
  function show(v, depth = 2) {
    if (typeof v === "string") return JSON.stringify(limit(v, 100));
    if (typeof v === "function") return "ƒ " + limit(text(own(v, "name")), 60);
    if (!is(v)) return typeof v === "bigint" ? v + "n" : String(v);
    if (own(v, "__v_isRef") === true || (Object.hasOwn(v, "__v_isReadonly") && Object.hasOwn(v, "_value")))
      return show(own(v, "_value"), depth);
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
      const loc = own(own(x, "__svelte_meta"), "loc");
      if (loc) {
        const file = text(own(loc, "file"));
        return {
          framework: "Svelte", name: file.split("/").pop().replace(/\.svelte$/, ""), owners: [], file,
          line: number(own(loc, "line")), column: number(own(loc, "column")), stack: "", props: [], state: [],
        };
      }
    }
    return null;
  }
  function lit(e) {
    const owners = [];
    let host, declared;
    for (let x = e; x; x = parentOf(x) ?? dom(x, "parentNode")?.host ?? null) {
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
  function angular(e) {
    const ng = own(globalThis, "ng");
    const c = own(ng, "getOwningComponent")?.(e) ?? own(ng, "getComponent")?.(e);
    return c
      ? {
          framework: "Angular",
          name: text(own(any(c, "constructor"), "name")),
          owners: [],
          file: "",
          line: 0,
          column: 0,
          stack: "",
          props: [],
          state: members(c, "__ngContext__"),
        }
      : null;
  }
  const e = dom(this, "nodeType") === 1 ? this : parentOf(this);
  return JSON.stringify(react(e) ?? vue(e) ?? svelte(e) ?? lit(e) ?? angular(e));
}
