function ({ text, slowly, plain }) {
  // What a field holds where that is not what was typed into it, as one that takes
  // so many characters only, or puts them in a form of its own; else null.
  if (typeof this.$value !== "string" || !this.$isConnected) return null; // the page has drawn it anew
  const typed = text.replace(/\r\n?/g, "\n");
  if (this.$type === "color" && this.$value === typed.toLowerCase()) return null;
  if (slowly ? this.$value.endsWith(typed) : this.$value === typed) return null;
  return this.$type === "password" && !plain ? "•".repeat(this.$value.length) : this.$value;
}
