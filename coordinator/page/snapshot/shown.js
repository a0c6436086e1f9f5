function ({ texts }) {
  // Which of the texts are not shown in this element (or in the document).
  const text = library.shownText(this instanceof Element ? this : document.documentElement);
  return JSON.stringify(texts.filter((t) => !text.includes(library.plain(t))));
}
