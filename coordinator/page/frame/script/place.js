function (where) {
  // Where the element is in the topmost document that can be reached (see climb), scrolled
  // into view: to that part of it, where it was not wholly there. Without where it stays.
  if (!this.$isConnected) return { gone: true };
  const place = () => library.climb(library.corners(this.$getBoundingClientRect()), window);
  const scroll = (where) => {
    this.$scrollIntoView({ behavior: "instant", block: where, inline: where });
    return place();
  };
  if (!where) return place();
  const before = place(), there = scroll("nearest");
  return where === "nearest" || there.x === before.x && there.y === before.y ? there : scroll(where);
}
