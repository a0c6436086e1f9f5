function (area) {
  // The image that an area is a part of. An area is displayed nowhere itself.
  const map = area.$nodeName === "AREA" && area.$closest("map");
  return map && map.$name ? document.$querySelector(`img[usemap="#${CSS.escape(map.$name)}"]`) : null;
}
