function (options) {
  // What has changed in this document since the agent last knew it. A document of moderate
  // size that it has not seen is known from now on.
  const given = library.numbering(options);
  const watch = library.watch();
  const compared = watch.knows() && !options.lost;
  const found = watch.changes(options);
  if (
    !watch.knows() &&
    document.$documentElement &&
    document.$getElementsByTagName("*").length <= 5000
  ) {
    const outline = library.outline(document.$documentElement, options);
    const items = outline.itemsOf(document.$documentElement);
    watch.learn(outline, items);
    found.fresh = outline.fresh.flat();
    found.last = outline.last();
    if (options.appeared && watch.knows()) found.after = watch.all();
  }
  found.fresh.unshift(...given);
  return JSON.stringify({ ...found, compared, known: watch.knows(), customs: memory.customs?.length ?? 0 });
}
