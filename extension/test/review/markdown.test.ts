// What of a client's Markdown reaches the review panel.
import { expect, test } from "vitest";
import { decodeHTML } from "../../src/core/review/entities";
import { codeAt, places, sections, target, toHtml } from "../../src/core/review/markdown";

const html = (markdown: string) => toHtml(markdown, (path) => (path.startsWith("shots/") ? `ours:${path}` : undefined));

test("HTML is shown as text, and no script gets in by any way", () => {
  const out = html(
    [
      "<script>alert(1)</script> <img src=x onerror=alert(1)>",
      "[a](javascript:alert(1)) [b](command:workbench.action.quit) [c](vscode://x/y) " +
        "[d](data:text/html,<script>1</script>)",
      '![e](x "onerror=alert(1)")',
      '[f](https://x.test/"onmouseover="alert(1))',
      '[g](src/a.ts"onclick="alert(1))',
      "`<b>`",
    ].join("\n\n"),
  );
  expect(out).not.toMatch(/<(script|img|b)\b/);
  expect(out.replace(/"[^"]*"/g, '""').match(/<[^>]*\son\w+=/g)).toBeNull();
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

test("what reviews are made of is shown: tables, tasks, differences, headings to link to", () => {
  expect(html("| a |\n|---|\n| 1 |")).toContain("<table>");
  expect(html("- [x] done\n- [ ] open")).toMatch(/<li class="task">.*>☑ done.*<li class="task">.*>☐ open/s);
  expect(html("```diff\n+a <b>\n-c\n d\n```")).toMatch(/<div class="line added">.*\+a &lt;b&gt;/);
  expect(html("## What *changed*, and why")).toContain('<h2 id="heading-what-changed-and-why">');
  expect(html("[why](#what-changed-and-why)")).toContain('<a href="#heading-what-changed-and-why">');
});

test("each block and each line of code has a button for comments, with the line of the Markdown", () => {
  const text = "# A\n\nb *c*\nd\n\n- e\n\n  ```ts\n  f();\n  ```\n\n| g |\n|---|\n\n    h\n";
  const buttons = [...html(text).matchAll(/class="comment" .*?data-line="(\d+)".*? aria-label="(.*?)"/g)];
  expect(buttons.map(([, line, label]) => [Number(line), label])).toEqual([
    [1, "Comment on A"],
    [3, "Comment on b cd"],
    [6, "Comment on e"],
    [9, "Comment on line 1: f();"],
    [12, "Comment on g"],
    [15, "Comment on line 1: h"],
  ]);
  expect([...places(text)]).toEqual([
    [1, { quote: "A" }],
    [3, { quote: "b *c*\nd" }],
    [6, { quote: "e" }],
    [9, { quote: "f();" }],
    [12, { quote: "g" }],
    [15, { quote: "h" }],
  ]);
  expect([codeAt(text, 9), codeAt(text, 15), codeAt(text, 1)]).toEqual(["f();\n", "h\n", undefined]);
});

test("a line of a diff is a line of the file that it names, also where it looks like a header", () => {
  const diff =
    "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@ f\n--- old\n+++ new\n same\n--- a/y\n+++ b/y\n@@ -9 +10 @@\n-u\n+v\n";
  const all = [...places(`\`\`\`diff\n${diff}\`\`\`\n`)].map(([line, { file, fileLine, quote }]) => [
    line,
    file,
    fileLine,
    quote,
  ]);
  expect(all).toEqual([
    [5, "x.sql", 1, "--- old"],
    [6, "x.sql", 1, "+++ new"],
    [7, "x.sql", 2, " same"],
    [11, "y", 9, "-u"],
    [12, "y", 10, "+v"],
  ]);
});

test("the text makes no button, and none of its names are those of the page", () => {
  const out = html(
    '<button id="approve">Approve</button>\n\n# approve\n\n[Approve](command:x "Approve")\n\n' +
      '```x"><button>\n</div><button>\n```\n',
  );
  expect(out.match(/<button /g)).toHaveLength(out.match(/<button type="button" class="(comment|copy)" /g)?.length ?? 0);
  expect(out).not.toMatch(/ id="(?!heading-)/);
  expect(out).toContain('data-language="x&quot;&gt;&lt;button&gt;"');
});

test.each([
  ["text", "if it\u202eis\u2066 safe", "if it[U+202E]is[U+2066] safe"],
  ["a character by its number", "ad&#x202e;min", "ad[U+202E]min"],
  ["code in a text", "`a\u200b\u2060b`", "<code>a[U+200B][U+2060]b</code>"],
  ["a heading", "# A\ufeff", "A[U+FEFF]</h1>"],
  ["a line of code", "```ts\nisAdmin\u200d();\n```", "isAdmin[U+200D]();</code>"],
  [
    "a line of a diff",
    "```diff\n+if (a\u2067\u2069 && \u3164) {\u2028}\n```",
    "+if (a[U+2067][U+2069] &amp;&amp; [U+3164]) {[U+2028]}",
  ],
  ["what runs in a terminal", "```sh\nls \u001b[8m; rm\u0008\u007f\n```", "ls [U+001B][8m; rm[U+0008][U+007F]"],
  ["text in tags", "```\nx\u{e0041}\u{e0042}\n```", "x[U+E0041][U+E0042]</code>"],
  ["text in variations", "x\ufe00\u{e0100}\u034f", "x[U+FE00][U+E0100][U+034F]"],
  [
    "a joiner in Latin text, after an accent too",
    "pa\u200dy e\u0301\u200d \u200c",
    "pa[U+200D]y e\u0301[U+200D] [U+200C]",
  ],
  [
    "the name of a changed file",
    "```diff\n--- a/x\u202ejs.y\n+++ b/x\u202ejs.y\n@@ -1 +1 @@\n-a\n+b\n```",
    "Apply to x[U+202E]js.y",
  ],
  ["what a button is for", "Pay\u202eme", 'aria-label="Comment on Pay[U+202E]me"'],
  ["where a link leads", "[a](src/a\u200b.ts)", 'title="src/a[U+200B].ts"'],
])("%s: a character that one does not see has a mark", (_, markdown, expected) => {
  const out = html(markdown);
  expect(out).toContain(expected);
  expect(out).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}\p{DI}\u2028\u2029]/u);
});

test("whole emoji, and the joiners of scripts that need them, are no tricks", () => {
  for (const text of ["👩‍💻 ✔️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 👍🏽", "می‌خواهم", "क्‍ष", "\ta\u00a0b"])
    expect(html(`\`\`\`\n${text}\n\`\`\``)).toContain(`<code>${text}</code>`);
  const long = `${"\u0301".repeat(200_000)}\u200d`.repeat(2);
  expect(html(long)).toContain("[U+200D]"); // in no more than a moment
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
