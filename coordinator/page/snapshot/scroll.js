async function ({ list: which, top, to, thorough, budget }) {
  // Scrolls a list or feed of this document by nearly its height, to its top, or to the element
  // of a ref. Returns from where to where, when the page has drawn what is there, and how many
  // lists there are. The one with the most to show comes first.
  const room = (e) => e.$scrollHeight - e.$clientHeight;
  const { shown } = library.visibility();
  const scrolls = (e) => room(e) > 40 && e.$clientHeight > innerHeight / 10 && /auto|scroll/.test(getComputedStyle(e).overflowY) && shown(e);
  if (!which || !memory.lists?.[which]?.$isConnected) { // the page may have drawn them anew
    const page = document.$scrollingElement, inner = [...document.$body?.$getElementsByTagName("*") ?? []].filter((e) => e !== page && scrolls(e));
    memory.lists = [...(room(page) > 2 || !inner.length ? [page] : []), ...inner].sort((a, b) => room(b) - room(a));
  }
  const { lists } = memory, list = lists[which] ?? lists[0];
  const atEnd = () => list.$scrollTop >= room(list) - 2;
  const until = performance.now() + budget;
  let changed = performance.now();
  const observer = new MutationObserver(() => { changed = performance.now(); });
  observer.observe(document, { subtree: true, childList: true, characterData: true });
  const from = list.$scrollTop, height = list.$clientHeight;
  if (to) memory.elements?.get(to)?.deref()?.$scrollIntoView({ block: "center", behavior: "instant" });
  else list.$scrollTop = top ? 0 : list.$scrollTop + Math.max(height - 10, height * 0.8);
  // The page draws in the next frame, and its script has had a task by the one after it. A
  // page that is not drawn has no frames. A thorough search leaves more time, for rows that
  // are loaded.
  const pause = thorough ? 60 : 0;
  const frame = () => new Promise((done) => {
    const late = setTimeout(done, 100);
    requestAnimationFrame(() => { clearTimeout(late); setTimeout(done); });
  });
  let before;
  await frame();
  do {
    before = performance.now();
    await frame();
    // A feed loads more at its end, which takes time.
  } while (performance.now() < until && (!to && atEnd() || changed > before || performance.now() - changed < pause));
  observer.disconnect();
  return JSON.stringify({ from, y: list.$scrollTop, end: atEnd(), lists: lists.length });
}
