function () {
  // The default button of the field's form, through which Enter submits it, if that is disabled.
  const field = this.$nodeName === "LABEL" ? this.$control : this;
  if (field?.$nodeName !== "INPUT" || !field.$form) return null;
  const submits = (e) => ["BUTTON", "INPUT"].includes(e.$nodeName) && ["submit", "image"].includes(e.$type);
  const button = [...document.$querySelectorAll("button, input")].find((e) => e.$form === field.$form && submits(e));
  return button?.$matches(":disabled") ? JSON.stringify(library.naming().identify(button)) : null;
}
