// The README for an extension's page in the editor, which shows neither relative nor `data:` images, and finds
// no file of the repository.

/** Without pictures, which stand on separate lines, and without links out of the package. */
export function standalone(readme) {
  return readme.replace(/^!\[[^\]]*\]\([^)]*\)\n\n/gm, "").replace(/\[([^\]]*)\]\(\.\.\/([^)]*)\)/g, "$1 (`$2`)");
}
