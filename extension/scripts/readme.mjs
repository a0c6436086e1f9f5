// The README for an extension's page in the editor, which shows neither relative nor `data:` images: without them.

/** Pictures stand on separate lines. */
export function withoutPictures(readme) {
  return readme.replace(/^!\[[^\]]*\]\([^)]*\)\n\n/gm, "");
}
