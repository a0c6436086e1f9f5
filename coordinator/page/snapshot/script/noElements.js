function () {
  // What to know of a document that shows something without having elements for it.
  if (document.$contentType !== "application/pdf") return "";
  return "- document: a PDF, drawn by the browser's viewer; none of its text is in the page. " +
    "browser_take_screenshot shows it, browser_fetch with a filename saves it.\n";
}
