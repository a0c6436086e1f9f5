function () {
  return {
    file: this.$nodeName === "INPUT" && this.$type === "file",
    multiple: this.$multiple || this.$webkitdirectory,
    disabled: !!this.$disabled,
    is: library.naming().identify(this),
  };
}
