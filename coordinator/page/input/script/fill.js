function ({ text, slowly }) {
  // Prepares an element for text: focus, and what is there selected. Controls
  // that take no typed text are set at once, with the events that a user's
  // choice sends.
  const field = this;
  const fire = (...names) => {
    for (const n of names) field.$dispatchEvent(new Event(n, { bubbles: true, composed: true }));
  };
  const refused = library.refusal.call(field, text);
  if (refused) return { error: refused };
  const chosen = ["color", "date", "time", "datetime-local", "month", "range", "week"];
  if (field.$nodeName === "INPUT" && chosen.includes(field.$type)) {
    field.$focus();
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(field, library.valueFor.call(field, text));
    fire("input", "change");
    return { done: true };
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
