// Stands in the bundle for linkify-it, which finds links in plain text. markdown-it makes one and asks
// it nothing, since core/review/markdown.ts does not want that.
export default class Unused {}
