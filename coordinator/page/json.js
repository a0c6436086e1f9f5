function () {
  // Writes this object as JSON, and what JSON has no word for as text. It runs in
  // the page's own world, whose prototypes may be patched.
  const MAX_OBJECTS = 50000, MAX_DEPTH = 100, MAX_TAG = 200;
  let left = MAX_OBJECTS, depth = 0;
  const above = []; // the objects around the one that is written: pages replace Set
  // The fields of a form, and the images of a document, shadow properties by their names.
  const dom = (n, of, name) => Object.getOwnPropertyDescriptor(of.prototype, name).get.call(n);
  const isNode = (v) => { try { return "nodeType" in v && dom(v, Node, "nodeType") > 0; } catch { return false; } };
  const quote = (s) => JSON.stringify(String(s));
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);

  function write(v) {
    switch (typeof v) {
      case "number": return v - v === 0 ? String(v) : quote(v);
      case "string": return quote(v);
      case "boolean": return String(v);
      case "bigint": return quote(v + "n");
      case "symbol": return quote(String(v));
      case "object": break;
      default: return ""; // as JSON has it
    }
    if (v === null) return "null";
    for (let i = 0; i < depth; i++) if (above[i] === v) return '"[cycle]"';
    if (depth >= MAX_DEPTH || left-- <= 0) return '"…"';
    above[depth++] = v;
    try {
      return object(v);
    } catch (e) {
      return quote(`[${e}]`);
    } finally {
      depth--;
    }
  }

  function object(v) {
    if (v.window === v) return quote("[Window]");
    if (isNode(v)) return quote(node(v));
    const kind = Object.prototype.toString.call(v).slice(8, -1);
    switch (kind) {
      case "Date": return quote(isNaN(v) ? "Invalid Date" : v.toISOString());
      case "Error": case "DOMException": case "RegExp": return quote(v);
      case "Number": case "String": case "Boolean": return write(v.valueOf());
      case "Set": return list(v);
      case "Map": return map(v);
      case "Promise": case "WeakMap": case "WeakSet": case "WeakRef": case "Generator": return quote(`[${kind}]`);
      case "ArrayBuffer": return quote(`[ArrayBuffer of ${v.byteLength} bytes]`);
    }
    if (v instanceof Error) return quote(v);
    if (Array.isArray(v) || (/(Array|List|Collection|Arguments)$/.test(kind) && typeof v.length === "number"))
      return list(Array.from(v));
    if (typeof v.toJSON === "function") return write(v.toJSON()) || "null";
    const own = Object.keys(v), base = Object.getPrototypeOf(v);
    if (own.length || !base || !Object.getPrototypeOf(base)) return members(v, own);
    // The browser's own objects have their members further up.
    const simple = [];
    for (const key in v) if (!/^[A-Z_]+$/.test(key) && Object(v[key]) !== v[key]) simple.push(key);
    return simple.length ? members(v, simple) : kind === "Object" ? "{}" : quote(`[${kind}]`);
  }

  function list(values) {
    let s = "";
    for (const v of values) s += (s && ",") + (write(v) || "null");
    return `[${s}]`;
  }

  function map(entries) {
    let s = "";
    for (const [key, v] of entries) {
      if (typeof key !== "string") return list(entries);
      s += `${s && ","}${quote(key)}:${write(v) || "null"}`;
    }
    return `{${s}}`;
  }

  function members(v, keys) {
    let s = "";
    for (const key of keys) {
      let entry;
      try {
        entry = write(v[key]);
      } catch (e) {
        entry = quote(`[${e}]`);
      }
      if (entry) s += `${s && ","}${quote(key)}:${entry}`;
    }
    return `{${s}}`;
  }

  function node(n) {
    const type = dom(n, Node, "nodeType"), name = dom(n, Node, "nodeName"), value = dom(n, Node, "nodeValue");
    if (type === 9) return "#document " + dom(n, Document, "URL");
    if (type !== 1) return value === null ? name : `${name} ${limit(value.trim(), MAX_TAG)}`;
    let tag = "<" + dom(n, Element, "localName");
    for (const a of dom(n, Element, "attributes")) tag += ` ${a.name}="${a.value}"`;
    const text = typeof n.innerText === "string" ? n.innerText : dom(n, Node, "textContent");
    return limit(tag, MAX_TAG) + ">" + limit(text.trim().replace(/\s+/g, " "), MAX_TAG / 2);
  }

  // Where the page has replaced what this needs, the browser writes the value.
  if (write({ a: [{ b: "x" }], c: null }) !== '{"a":[{"b":"x"}],"c":null}') throw new Error("replaced");
  return write(this) || "null";
}
