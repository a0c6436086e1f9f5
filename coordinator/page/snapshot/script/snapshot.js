function (options) {
  // Prints the accessibility tree of this document (or of the element that this is) as text.
  let root = this instanceof Element ? this : document.$documentElement, cut = false;
  // A document that has just begun, or was emptied by a script.
  if (!root)
    return JSON.stringify({
      text: "",
      rootless: true,
      refs: 0,
      last: options.last,
      sighted: [],
      fresh: [],
      title: document.$title,
    });
  const main =
    options.main &&
    document.$getElementsByTagName("*").length > options.most &&
    document.$querySelector("main, [role=main]");
  if (main) [root, cut] = [main, true];
  const whole = root === document.$documentElement;
  const given = library.numbering(options);
  const outline = library.outline(root, options);
  const watch = library.watch(); // of this generation
  watch.adopt();
  const items = outline.itemsOf(root);
  const printed = outline.print(items);
  if (whole) printed.text = library.noElements() || printed.text;
  cut ||= outline.cut();
  // What the agent knows from now on. A part of the document is not what it knows of the rest.
  const partial = options.depth || options.interactive;
  if (whole && !options.full && !options.look && !cut && !(partial && watch.knows())) watch.learn(outline, items);
  const passed = options.notices ? watch.gone() : {};
  // As one string: the browser takes seconds to hand over thousands of values.
  return JSON.stringify({
    ...printed,
    cut,
    own: items.length === 1 && (items[0].owner === root || items[0].role === "text"),
    last: outline.last(),
    customs: outline.customs.length,
    known: watch.knows(),
    ...passed,
    sighted: outline.sighted,
    self: outline.wanted,
    fresh: [...given, ...outline.fresh.flat()],
    title: document.$title,
  });
}
