function ({ text, slowly }) {
  // Prepares an element for text: focus, and what is there selected. Controls
  // that take no typed text are set at once, with the events that a user's
  // choice sends.
  const field = this;
  const fire = (...names) => {
    for (const n of names) field.$dispatchEvent(new Event(n, { bubbles: true, composed: true }));
  };
  const forms = {
    color: "#rrggbb",
    date: "YYYY-MM-DD",
    time: "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    month: "YYYY-MM",
    week: "YYYY-Www",
  };
  if (field.$nodeName === "SELECT") return { error: "is a <select>: select an option instead" };
  if (field.$nodeName === "INPUT") {
    const type = field.$type;
    if (["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"].includes(type)) {
      return { error: `is an <input type="${type}">, which takes no text` };
    }
    if (["color", "date", "time", "datetime-local", "month", "range", "week"].includes(type)) {
      field.$focus();
      if (type === "datetime-local") text = text.trim().replace(" ", "T");
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
      const before = field.$value;
      set.call(field, text);
      if (field.$value !== text && !(type === "color" && field.$value === text.toLowerCase())) {
        const made = field.$value;
        set.call(field, before);
        const why = made ? `would make ${JSON.stringify(made)} of it` : `holds ${JSON.stringify(before)} as before`;
        const form = forms[type] ? `: give ${forms[type]}` : "";
        return { error: `takes no ${JSON.stringify(text)}: it is an <input type="${type}"> and ${why}${form}` };
      }
      fire("input", "change");
      return { done: true };
    }
    if (type === "number" && text.trim() !== "" && isNaN(Number(text)))
      return { error: `takes numbers only, not ${JSON.stringify(text)}` };
  }
  const slider = library.slider.call(field);
  if (slider) return { error: slider };
  if (
    field.$nodeName !== "INPUT" &&
    field.$nodeName !== "TEXTAREA" &&
    !field.$isContentEditable &&
    !field.$editContext
  ) {
    const { labelOf, named } = library.naming();
    const other = field.$control ? labelOf(named(field.$control)) : "the field itself";
    return { error: `is a <${field.$localName}>, which takes no text: give ${other}` };
  }
  const document = field.$ownerDocument,
    selection = document.$defaultView.getSelection(),
    rich = field.$isContentEditable && field.$nodeName !== "INPUT" && field.$nodeName !== "TEXTAREA";
  let host = field; // of a part of a rich text, what has the focus
  while (rich && host.$parentElement?.$isContentEditable) host = host.$parentElement;
  const focused = () => host.$getRootNode().$activeElement === host, active = focused();
  let took = active;
  const notice = () => { took = true; };
  host.$addEventListener("focus", notice);
  host.$focus();
  host.$removeEventListener("focus", notice);
  // The page may move the focus on. Where there was none, the keys would go to another field.
  if (!took && !focused() && document.$designMode !== "on")
    return { error: "takes no focus: the text would go to another field" };
  // The page itself draws the text and the selection of an EditContext.
  if (field.$editContext) return { key: slowly ? "Control+End" : "Control+A" };
  if (slowly) {
    // Behind what is there, in whatever kind of field. In a rich text that has the focus, the
    // caret may have been placed.
    const toEnd = host === field && (!active || !rich);
    if (host !== field) selection.selectAllChildren(field);
    else if (toEnd) selection.modify("move", "forward", "documentboundary");
    // A caret keeps the style that was chosen for what comes.
    if (rich && !selection.isCollapsed) selection.collapseToEnd();
    return { toEnd };
  }
  if (field.$nodeName === "INPUT" || field.$nodeName === "TEXTAREA") {
    if (text === "" && field.$value === "") return { done: true };
    field.$select();
    return {};
  }
  selection.selectAllChildren(field);
  if (text === "" && field.$textContent === "") return { done: true };
  return {};
}
