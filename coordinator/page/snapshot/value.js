function ({ type }) {
  // What a control holds, as texts, any of which counts as its value.
  const e = this;
  if (type === "text")
    return JSON.stringify([
      e.$textContent
        .replace(/[\u00ad\u200b]/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    ]);
  if (type === "field") return JSON.stringify(/^(INPUT|TEXTAREA)$/.test(e.$nodeName) ? [e.$value] : []);
  if (type === "check") type = "checkbox";
  if (type === "checkbox" || type === "radio") {
    if (e.$nodeName === "INPUT" && (e.$type === "checkbox" || e.$type === "radio"))
      return JSON.stringify([String(e.$checked)]);
    const checked = e.$getAttribute("aria-checked") ?? e.$getAttribute("aria-pressed");
    return JSON.stringify(checked === null ? [] : [checked]);
  }
  if (e.$nodeName === "SELECT") {
    const chosen = [...e.$selectedOptions];
    return JSON.stringify([chosen.map((o) => o.$value).join(", "), chosen.map((o) => o.$label).join(", ")]);
  }
  if (e.$nodeName === "INPUT" || e.$nodeName === "TEXTAREA") return JSON.stringify([e.$value]);
  if (e.$isContentEditable) return JSON.stringify([e.$innerText]);
  const value = e.$getAttribute("aria-valuetext") ?? e.$getAttribute("aria-valuenow");
  if (value !== null) return JSON.stringify([value, e.$getAttribute("aria-valuenow")].filter((v) => v !== null));
  return JSON.stringify(e.$getAttribute("role") === "combobox" ? [e.$innerText.trim()] : []);
}
