function () {
  // Remembers whether a drag begins here that the page itself does not handle.
  memory.dragBegan = false;
  this.$ownerDocument.$defaultView.addEventListener(
    "dragstart",
    (e) => {
      memory.dragBegan = !e.defaultPrevented;
    },
    { once: true },
  );
}
