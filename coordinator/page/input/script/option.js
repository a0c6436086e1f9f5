async function ({ wanted, others, patience }) {
  // Waits for the option of that label in a list of the page's own, or for one that is chosen beside the others, and
  // keeps it in memory.option.
  const { squash, nameOf } = library.naming(), label = (o) => squash(nameOf(o, "option") || o.$textContent);
  const chosen = (o) => o.$getAttribute("aria-selected") === "true" || o.$getAttribute("aria-checked") === "true";
  const lower = (s) => squash(s).toLowerCase();
  let options = [], found;
  const look = () => {
    options = library.listed.call(this);
    const like = options.filter((o) => lower(label(o)) === lower(wanted ?? ""));
    found = others ? options.find((o) => chosen(o) && !others.some((w) => lower(w) === lower(label(o))))
      : like.find((o) => label(o) === squash(wanted)) ?? (like.length === 1 ? like[0] : undefined);
    return found || others;
  };
  if (!look()) await new Promise((done) => {
    const seen = new MutationObserver(() => look() && finish());
    const finish = () => { seen.disconnect(); clearTimeout(timer); done(); };
    const timer = setTimeout(finish, patience);
    const roots = [document, this.$getRootNode(), ...[...options].map((o) => o.$getRootNode())];
    for (const root of new Set(roots))
      seen.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
  });
  memory.option = found;
  const disabled = found && (found.$getAttribute("aria-disabled") === "true" || found.$matches(":disabled"));
  const labels = options.slice(0, 30).map(label);
  return { found: !!found, disabled, labels, label: found && label(found), chosen: !!found && chosen(found) };
}
