async function ({ wanted = [], patience }) {
  const text = (o) => o.$label.trim().replace(/\s+/g, " ");
  const options = [], chosen = [];
  const inAnyCase = (w) => {
    const like = options.filter((o) => text(o).toLowerCase() === w.trim().toLowerCase());
    return like.length === 1 ? like[0] : undefined;
  };
  const find = (w) => options.find((o) => o.$value === w) ?? options.find((o) => text(o) === w.trim()) ?? inAnyCase(w);
  const complete = () => {
    options.splice(0, Infinity, ...this.$options);
    return wanted.every(find);
  };
  if (!complete()) await new Promise((done) => { // the page may still load them
    const seen = new MutationObserver(() => complete() && finish());
    const finish = () => { seen.disconnect(); done(); };
    seen.observe(this, { childList: true, subtree: true, characterData: true, attributes: true });
    setTimeout(finish, patience);
  });
  for (const w of wanted) {
    const found = find(w);
    if (!found)
      return {
        error: `has no option ${JSON.stringify(w)}; it has ${options
          .filter((o) => getComputedStyle(o).display !== "none")
          .slice(0, 30)
          .map(text)
          .map((s) => JSON.stringify(s))
          .join(", ")}`,
      };
    if (found.$disabled || found.$parentElement.$disabled) return { error: `option ${JSON.stringify(w)} is disabled` };
    chosen.push(found);
  }
  if (chosen.length !== 1 && !this.$multiple) return { error: "takes one option" };
  this.$focus();
  if (this.$multiple) for (const o of options) o.$selected = chosen.includes(o);
  else chosen[0].$selected = true;
  for (const name of ["input", "change"]) this.$dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  return {};
}
