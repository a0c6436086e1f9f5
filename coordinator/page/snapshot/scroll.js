async function ({ top, budget }) {
  // Scrolls the list or feed of this document by most of its height, or to its top, and
  // returns from where to where, when the page has drawn what is there.
  const room = (e) => e.scrollHeight - e.clientHeight;
  const scrolls = (e) => room(e) > 40 && e.clientHeight > innerHeight / 10 && /auto|scroll/.test(getComputedStyle(e).overflowY) && e.checkVisibility();
  let list = document.scrollingElement;
  for (const e of document.body?.getElementsByTagName("*") ?? []) if (room(e) > room(list) && scrolls(e)) list = e;
  const atEnd = () => list.scrollTop >= room(list) - 2;
  const quiet = 60, until = performance.now() + budget;
  let changed = performance.now();
  const observer = new MutationObserver(() => { changed = performance.now(); });
  observer.observe(document, { subtree: true, childList: true, characterData: true });
  const from = list.scrollTop;
  list.scrollTop = top ? 0 : list.scrollTop + list.clientHeight * 0.8;
  // A feed loads more at its end, which takes time; elsewhere the page only draws.
  while (performance.now() < until && (atEnd() || performance.now() - changed < quiet)) await new Promise((done) => setTimeout(done, 20));
  observer.disconnect();
  return JSON.stringify({ from, y: list.scrollTop, end: atEnd() });
}
