function (files) {
  const transfer = new DataTransfer();
  for (const { name, type, modified, contents } of files ?? []) {
    const bytes = Uint8Array.from(atob(contents), (char) => char.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type, lastModified: modified }));
  }
  this.$files = transfer.files;
  this.$dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.$dispatchEvent(new Event("change", { bubbles: true }));
}
