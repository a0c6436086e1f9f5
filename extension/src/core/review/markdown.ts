// Markdown as a client gives it, made into HTML for the review panel.
//
// The client is not trusted: no HTML of its own passes, nothing is loaded from elsewhere, and a link
// leads to a file of the window, to a web page that the user opens, or nowhere. The panel's Content
// Security Policy holds even where this would not.
import MarkdownIt from "markdown-it";

type Token = ReturnType<MarkdownIt["parse"]>[number];

/** Gives the address by which the panel may load an image of the window's folders; undefined where it may not. */
export type ToImage = (path: string) => string | undefined;

export interface Section {
  title: string;
  level: number;
  /** The lines of its heading, and the line after its last one; counted from 0. */
  heading: number;
  body: number;
  end: number;
}

interface Env {
  toImage: ToImage;
}

const md: MarkdownIt = new MarkdownIt({ html: false, linkify: false, typographer: false });
md.validateLink = () => true; // what is made of a link is decided below
md.core.ruler.push("tasks", ({ tokens }) => tickBoxes(tokens));
md.renderer.rules.link_open = (tokens, index) => openLink(String(tokens[index]?.attrGet("href") ?? ""));
md.renderer.rules.image = (tokens, index, _options, env: Env) => image(tokens[index] as Token, env.toImage);
md.renderer.rules.heading_open = (tokens, index) => {
  const { tag } = tokens[index] as Token;
  return `<${tag} id="${escaped(slug(tokens[index + 1]?.content ?? ""))}">`;
};
const fence = md.renderer.rules.fence;
md.renderer.rules.fence = (tokens, index, options, env, self) => {
  const { info, content } = tokens[index] as Token;
  if (info.trim() === "diff") return `<pre class="diff"><code>${diff(content)}</code></pre>\n`;
  return fence?.(tokens, index, options, env, self) ?? "";
};

export function toHtml(markdown: string, toImage: ToImage): string {
  return md.render(markdown, { toImage } satisfies Env);
}

/** The sections of a text by its own headings, not by those in quotes, lists or code. */
export function sections(markdown: string): Section[] {
  const tokens = md.parse(markdown, {});
  const headings = tokens.flatMap((token, index) =>
    token.type === "heading_open" && token.level === 0 && token.map
      ? [{ title: title(tokens[index + 1]), level: Number(token.tag.slice(1)), map: token.map }]
      : [],
  );
  const lines = markdown.split("\n").length;
  return headings.map(({ title, level, map: [heading, body] }, index) => {
    const next = headings.slice(index + 1).find((other) => other.level <= level);
    return { title, level, heading, body, end: next?.map[0] ?? lines };
  });
}

/** A heading as it reads, without its marks. */
function title(inline: Token | undefined): string {
  const texts = inline?.children?.filter(({ type }) => type === "text" || type === "code_inline") ?? [];
  return texts
    .map(({ content }) => content)
    .join("")
    .trim();
}

export type Target = { file: string; line?: number; column?: number } | { url: string } | { anchor: string };

/** Where a link leads: `src/cart.ts`, `src/cart.ts#L12`, `src/cart.ts:12:3`, a web page, a heading; or nowhere. */
export function target(href: string): Target | undefined {
  if (href.startsWith("#")) return { anchor: decoded(href.slice(1)) };
  if (/^(https?:\/\/|mailto:)/i.test(href)) return { url: href };
  const path = decoded(href.replace(/^file:\/\/(\/(?=[a-z]:))?/i, "")); // file:///C:/… has a slash before the drive
  const found = /^(.*?)(?:#L(\d+)(?:C(\d+))?(?:-.*)?|:(\d+)(?::(\d+))?)?$/s.exec(path);
  const [, file = "", hashLine, hashColumn, line = hashLine, column = hashColumn] = found ?? [];
  if (file === "" || /^[a-z][a-z0-9+.-]+:/i.test(file)) return undefined; // another scheme, as command: or javascript:
  return {
    file,
    ...(Number(line) > 0 && { line: Number(line) }),
    ...(Number(column) > 0 && { column: Number(column) }),
  };
}

function openLink(href: string): string {
  const to = target(href);
  if (!to) return "<a>";
  if ("anchor" in to) return `<a href="#${escaped(slug(to.anchor))}">`;
  if ("url" in to) return `<a href="${escaped(to.url)}" title="${escaped(to.url)}">`;
  const place = [to.file, to.line, to.column].filter((part) => part !== undefined).join(":");
  const data = `data-file="${escaped(to.file)}" data-line="${to.line ?? ""}" data-column="${to.column ?? ""}"`;
  return `<a href="#" ${data} title="${escaped(place)}">`;
}

function image(token: Token, toImage: ToImage): string {
  const src = String(token.attrGet("src") ?? "");
  const alt = escaped(token.content);
  if (/^data:image\/(png|jpeg|gif|webp);base64,/i.test(src)) return `<img src="${escaped(src)}" alt="${alt}">`;
  const to = target(src);
  const address = to && "file" in to ? toImage(to.file) : undefined;
  if (address !== undefined) return `<img src="${escaped(address)}" alt="${alt}">`;
  return `<span class="missing">[image: ${alt || "not of this window's folders"}]</span>`;
}

function diff(text: string): string {
  const classes: Record<string, string> = { "+": "added", "-": "removed", "@": "place" };
  return text.replace(/^.*$/gm, (line) => {
    const kind = classes[line.charAt(0)];
    return kind ? `<span class="${kind}">${escaped(line)}</span>` : escaped(line);
  });
}

/** `- [ ] open` and `- [x] done` */
function tickBoxes(tokens: Token[]): void {
  tokens.forEach((token, index) => {
    const [first] = token.children ?? [];
    const item = tokens[index - 2];
    if (token.type !== "inline" || item?.type !== "list_item_open" || first?.type !== "text") return;
    const box = /^\[([ xX])\](?= |$)/.exec(first.content);
    if (!box) return;
    first.content = (box[1] === " " ? "☐" : "☑") + first.content.slice(box[0].length);
    item.attrSet("class", "task"); // it needs no other mark
  });
}

/** The name by which a heading is linked to, as GitHub makes it. */
function slug(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]+/gu, "")
    .replace(/\s+/gu, "-");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escaped(text: string): string {
  return md.utils.escapeHtml(text);
}
