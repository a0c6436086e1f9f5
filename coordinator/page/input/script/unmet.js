function () {
  // Why the browser has not sent the form that this button or field sends: its
  // fields that are not valid, with the message to the user. Empty: it has.
  const sender = this.$closest?.("button, input") ?? this;
  const form = sender.$form;
  const sends =
    sender.$nodeName === "BUTTON"
      ? sender.$type === "submit"
      : !["button", "reset", "checkbox", "radio"].includes(sender.$type);
  if (!form || !sends || form.$noValidate || sender.$formNoValidate) return [];
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);
  const named = (e) =>
    limit(
      (e.$labels?.[0]?.$innerText ?? e.$getAttribute("aria-label") ?? e.$placeholder ?? "").trim().replace(/\s+/g, " "),
      60,
    ) ||
    e.$getAttribute("name") ||
    e.$id ||
    e.$localName;
  // The message of a page's own kind of element is not known here.
  const invalid = (e) => e.$matches(e.$localName.includes("-") ? ":invalid" : ":user-invalid");
  return [...form.$elements]
    .filter(invalid)
    .slice(0, 5)
    .map((e) => `${named(e)}: ${e.$validationMessage || "it is not valid."}`);
}
