function (s) {
  // A text to compare with what is shown: styles change a text's case and white space, and a
  // snapshot tells it without them.
  return library.naming().squash(s).toLowerCase().replace(/ß/g, "ss");
}
