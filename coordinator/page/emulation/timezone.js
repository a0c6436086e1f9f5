function (name) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return "true";
  } catch {
    return "false";
  }
}
