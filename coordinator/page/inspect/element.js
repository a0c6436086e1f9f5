function () {
  // The box of an element, and the computed styles that decide how it looks and behaves, where
  // they are not what an element without any style has.
  const style = getComputedStyle(this), r = this.$getBoundingClientRect();
  const usual = {
    display: "",
    position: "static",
    float: "none",
    visibility: "visible",
    opacity: "1",
    "pointer-events": "auto",
    "z-index": "auto",
    overflow: "visible",
    color: "",
    "background-color": "rgba(0, 0, 0, 0)",
    "background-image": "none",
    "font-family": "",
    "font-size": "",
    "font-weight": "400",
    "font-style": "normal",
    "line-height": "normal",
    "text-align": "start",
    "text-transform": "none",
    "text-decoration-line": "none",
    "white-space": "normal",
    "text-overflow": "clip",
    "flex-direction": "row",
    "flex-wrap": "nowrap",
    flex: "0 1 auto",
    "justify-content": "normal",
    "align-items": "normal",
    "align-self": "auto",
    gap: "normal",
    "grid-template-columns": "none",
    "grid-template-rows": "none",
    "grid-area": "auto",
    "min-width": "auto",
    "max-width": "none",
    "min-height": "auto",
    "max-height": "none",
    "box-sizing": "content-box",
    transform: "none",
    translate: "none",
    rotate: "none",
    scale: "none",
    filter: "none",
    "clip-path": "none",
    "mask-image": "none",
    "border-radius": "0px",
    "box-shadow": "none",
    "outline-style": "none",
    cursor: "auto",
    "user-select": "auto",
    "transition-property": "all",
    "animation-name": "none",
    "content-visibility": "visible",
    contain: "none",
    "container-type": "normal",
    direction: "ltr",
    "writing-mode": "horizontal-tb",
    top: "auto",
    right: "auto",
    bottom: "auto",
    left: "auto",
  };
  const place = ["top", "right", "bottom", "left"], styles = [];
  for (const [name, value] of Object.entries(usual)) {
    const is = style.getPropertyValue(name);
    if (is === value || is === "" || (place.includes(name) && style.position === "static")) continue;
    if (
      (name.startsWith("min-") && (is === "0px" || is === "auto")) ||
      (name === "transition-property" && style.transitionDuration === "0s")
    )
      continue;
    if ((name === "grid-area" && /^auto( \/ auto)*$/.test(is)) || (name === "gap" && /^normal( normal)?$/.test(is)))
      continue;
    styles.push(`${name}: ${is.length > 200 ? is.slice(0, 200) + "…" : is}`);
  }
  const sides = (name) => place.map((side) => parseFloat(style.getPropertyValue(name.replace("*", side))) || 0);
  const margin = sides("margin-*"), border = sides("border-*-width"), padding = sides("padding-*");
  return JSON.stringify({
    tag: this.$localName, id: this.$id, classes: [...this.$classList].slice(0, 20),
    x: r.x, y: r.y, width: r.width, height: r.height, margin, border, padding, styles,
    contentWidth: Math.max(0, this.$offsetWidth - border[1] - border[3] - padding[1] - padding[3]) || 0,
    contentHeight: Math.max(0, this.$offsetHeight - border[0] - border[2] - padding[0] - padding[2]) || 0,
    viewWidth: innerWidth, viewHeight: innerHeight,
  });
}
