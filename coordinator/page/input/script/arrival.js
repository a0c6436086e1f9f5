function (budget) {
  // Reports whether the pointer arrives in this element's document in time.
  const w = this.$ownerDocument.$defaultView;
  return new Promise((done) => {
    const finish = (arrived) => {
      w.removeEventListener("mousemove", arrive, true);
      done(arrived);
    };
    const arrive = () => finish(true);
    w.addEventListener("mousemove", arrive, true);
    setTimeout(finish, budget, false);
  });
}
