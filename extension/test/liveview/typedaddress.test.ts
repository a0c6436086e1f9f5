import { expect, test } from "vitest";
import { typedAddress } from "../../src/core/liveview/typedaddress";

test.each([
  [" localhost:3000/cart?x=1 ", "http://localhost:3000/cart?x=1"],
  ["127.0.0.1:5173", "http://127.0.0.1:5173/"],
  ["[::1]:5173/a", "http://[::1]:5173/a"],
  ["shop.localhost", "http://shop.localhost/"],
  ["shop.test", "https://shop.test/"],
  ["shop.test:8443/cart#top", "https://shop.test:8443/cart#top"],
  ["HTTP://Shop.test", "http://shop.test/"],
  ["https://shop.test/#a", "https://shop.test/#a"],
  ["file:///home/dev/shop/index.html", "file:///home/dev/shop/index.html"],
  ["about:blank", "about:blank"],
  ["аpple.com", "https://xn--pple-43d.com/"], // the first letter is Cyrillic
])("%s opens %s", (typed, url) => expect(typedAddress(typed)).toBe(url));

test.each([
  "",
  "a b",
  "/x",
  "//shop.test",
  "?q",
  "javascript:alert(1)",
  " JavaScript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "blob:http://shop.test/1",
  "view-source:http://shop.test",
  "about:settings",
  "chrome://settings",
  "chrome-extension://id/x",
  "devtools://devtools/x",
  "vscode://x/y",
])("%s opens nothing", (typed) => expect(typedAddress(typed)).toBeUndefined());
