function () {
  // What an input event hit in place of the element (empty: nothing else; see
  // ready.js), why a form was not sent, and whether it is a download that begins.
  const { missed = "", is, prevented = false } = memory.watched?.() ?? {};
  memory.watched = memory.missed = undefined;
  const download = !prevented && !!this.$closest?.("a[href][download], area[href][download]");
  return { missed, is, unmet: library.unmet.call(this), download };
}
