function () {
  return Array.from(this.$files, (file) => file.size);
}
