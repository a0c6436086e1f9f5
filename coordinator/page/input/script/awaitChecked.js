async function (want) {
  // Whether it is checked, up to a second later: the page may ask its server first.
  const is = () => library.checked.call(this);
  if (is() === want) return want;
  await new Promise((done) => {
    const seen = new MutationObserver(() => is() === want && finish());
    const finish = () => { seen.disconnect(); done(); };
    seen.observe(this.$control ?? this, { attributes: true });
    setTimeout(finish, 1000);
  });
  return is();
}
