function (place) {
  // this is a frame element whose content is of another origin: where a place in it is in
  // the topmost document that can be reached from here (see climb).
  return library.climb(library.corners(place).map((corner) => library.ofContent.call(this, corner)), window);
}
