function (slowly) {
  // Selects all text of an EditContext, or moves the caret to its end, where the page has not
  // done that at the key.
  const context = this.$editContext,
    { length } = context.text,
    begin = slowly ? length : 0;
  if (context.selectionEnd - context.selectionStart !== length - begin || context.selectionEnd !== length)
    context.updateSelection(begin, length);
}
