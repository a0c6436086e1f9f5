function () {
  return this.checked ?? this.getAttribute("aria-checked") === "true";
}
