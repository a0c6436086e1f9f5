async function ({ text, budget }) {
  // Waits until the element is visible and shows a text, and reports whether it does.
  const end = performance.now() + budget;
  const shown = () =>
    (this.$nodeName === "SELECT"
      ? [...this.$selectedOptions].map((o) => o.$label)
      : [this.$innerText, typeof this.$value === "string" ? this.$value : ""]
    ).join("\n");
  const has = () => text === "" || shown().toLowerCase().includes(text.toLowerCase());
  const shows = () => this.$isConnected && this.$checkVisibility({ visibilityProperty: true }) && has();
  while (!shows() && this.$isConnected && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
  return shows();
}
