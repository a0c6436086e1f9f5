function (place) {
  // this is a frame element whose content is of another process: where a place in
  // it is in the topmost document of this process.
  return library.climb(library.corners(place).map((corner) => library.ofContent.call(this, corner)), window);
}
