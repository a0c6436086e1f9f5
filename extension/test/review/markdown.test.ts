// What of a client's Markdown reaches the review panel.
import { expect, test } from "vitest";
import { decodeHTML } from "../../src/core/review/entities";
import { sections, target, toHtml } from "../../src/core/review/markdown";

const html = (markdown: string) => toHtml(markdown, (path) => (path.startsWith("shots/") ? `ours:${path}` : undefined));

test("HTML is shown as text, and no script gets in by any way", () => {
  const out = html(
    [
      "<script>alert(1)</script> <img src=x onerror=alert(1)>",
      "[a](javascript:alert(1)) [b](command:workbench.action.quit) [c](vscode://x/y) [d](data:text/html,<script>1</script>)",
      '![e](x "onerror=alert(1)")',
      '[f](https://x.test/"onmouseover="alert(1))',
      '[g](src/a.ts"onclick="alert(1))',
      "`<b>`",
    ].join("\n\n"),
  );
  expect(out).not.toMatch(/<(script|img|b)\b/);
  expect(out.match(/<[^>]*\son\w+=/g)).toBeNull();
  expect(out).not.toMatch(/href="(?!https:|#)/);
  expect(out).toContain("&lt;script&gt;");
});

test("links lead to files at a line, to the web, to a heading, or nowhere", () => {
  expect(target("src/cart.ts")).toEqual({ file: "src/cart.ts" });
  expect(target("src/cart.ts#L12")).toEqual({ file: "src/cart.ts", line: 12 });
  expect(target("src/cart.ts#L12-L20")).toEqual({ file: "src/cart.ts", line: 12 });
  expect(target("cart.ts:12:3")).toEqual({ file: "cart.ts", line: 12, column: 3 });
  expect(target("/home/dev/my%20shop/a.ts:4")).toEqual({ file: "/home/dev/my shop/a.ts", line: 4 });
  expect(target("file:///home/dev/a.ts")).toEqual({ file: "/home/dev/a.ts" });
  expect(target("file:///C:/shop/a.ts:4")).toEqual({ file: "C:/shop/a.ts", line: 4 });
  expect(target("C:\\shop\\a.ts:4")).toEqual({ file: "C:\\shop\\a.ts", line: 4 });
  expect(target("https://x.test/a:1")).toEqual({ url: "https://x.test/a:1" });
  expect(target("#tests")).toEqual({ anchor: "tests" });
  expect(target("command:workbench.action.quit")).toBeUndefined();
  expect(target("JavaScript:alert(1)")).toBeUndefined();
  expect(target("vbscript:x:1")).toBeUndefined();
  expect(html("[cart](src/cart.ts:12)")).toContain('data-file="src/cart.ts" data-line="12"');
});

test("images come from the window's folders or from the text itself, and from nowhere else", () => {
  expect(html("![a](shots/a.png)")).toContain('<img src="ours:shots/a.png" alt="a">');
  expect(html("![a](data:image/png;base64,iVBORw0KGgo=)")).toContain('<img src="data:image/png;base64,iVBORw0KGgo="');
  expect(html("![a](https://x.test/a.png) ![](//x.test/b.png) ![c](/etc/c.png)")).not.toContain("<img");
});

test("what reviews are made of is there: tables, tasks, differences, headings to link to", () => {
  expect(html("| a |\n|---|\n| 1 |")).toContain("<table>");
  expect(html("- [x] done\n- [ ] open")).toMatch(/<li class="task">☑ done.*<li class="task">☐ open/s);
  expect(html("```diff\n+a <b>\n-c\n d\n```")).toContain('<span class="added">+a &lt;b&gt;</span>');
  expect(html("## What *changed*, and why")).toContain('<h2 id="what-changed-and-why">');
});

test("sections are those of the text's own headings", () => {
  const text = "# A\n\n```\n# no\n```\n\n> # no\n\n## B `c`\n\nb\n\n# D\n";
  expect(sections(text)).toEqual([
    { title: "A", level: 1, heading: 0, body: 1, end: 12 },
    { title: "B c", level: 2, heading: 8, body: 9, end: 12 },
    { title: "D", level: 1, heading: 12, body: 13, end: 14 },
  ]);
});

test("named and numbered characters, those of the bundle", () => {
  expect(decodeHTML("a &amp;&lt;&nbsp;&rarr; &#65;&#x42; &#0;")).toBe("a &<\u00a0→ AB \ufffd");
  expect(decodeHTML("&nosuch; &constructor; & b")).toBe("&nosuch; &constructor; & b");
});
