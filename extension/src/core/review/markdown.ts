// Markdown as a client gives it, made into HTML for the review panel.
//
// The client is not trusted: none of its HTML passes, nothing is loaded from elsewhere, and a link
// leads to a file of the window, to a web page that the user opens, or nowhere. The panel's Content
// Security Policy holds even where this would not.
//
// The user comments on its blocks and on the lines of its code, so each has a button. The client cannot make
// one: a button in the content is ours.
import * as l10n from "@vscode/l10n";
import MarkdownIt from "markdown-it";
import { visible } from "../visible";
import { type CodeLine, codeLines, type Hunk, hunkOf, hunks } from "./code";

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
  return `${commentButton(tokens, index)}<${tag} id="${anchor(tokens[index + 1]?.content ?? "")}">`;
};
md.renderer.rules.table_open = (tokens, index) => `${commentButton(tokens, index)}<table>`;
// The paragraphs of a tight list are hidden; the span stands for one.
md.renderer.rules.paragraph_open = (tokens, index) =>
  `${commentButton(tokens, index)}${tokens[index]?.hidden ? "<span>" : "<p>"}`;
md.renderer.rules.paragraph_close = (tokens, index) => (tokens[index]?.hidden ? "</span>" : "</p>\n");
md.renderer.rules.fence = (tokens, index) => codeBlock(tokens[index] as Token);
md.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index] as Token);

/** What the user can comment on. */
export interface Place {
  quote: string;
  file?: string;
  fileLine?: number;
}

/** The longest quote, in characters. */
const quoteLimit = 300;

/** By the line in the Markdown where each begins, counted from 1. */
export function places(markdown: string): Map<number, Place> {
  const all = new Map<number, Place>();
  md.parse(markdown, {}).forEach((token, index, tokens) => {
    if (isCode(token)) {
      const { lines, first } = code(token);
      lines.forEach(({ text, file, number }, line) => {
        if (number === undefined) return;
        const quote = text.slice(0, quoteLimit);
        all.set(first + line, { quote, ...(file !== undefined && { file, fileLine: number }) });
      });
    } else if (/^(paragraph|heading|table)_open$/.test(token.type)) {
      all.set(lineOf(token), { quote: quoted(tokens, index) });
    }
  });
  return all;
}

/** A run of changed lines in a diff that names its files. */
export interface Change {
  file: string;
  /** Lines of the changed file; where lines are only removed, of the file before. */
  from: number;
  to: number;
  /** Whether lines are only removed. */
  removal: boolean;
  hunk: Hunk;
}

export function changes(markdown: string): Change[] {
  return md.parse(markdown, {}).flatMap((token) => (isCode(token) ? hunks(code(token).lines).flatMap(runs) : []));
}

/** The runs of changed lines in a hunk. */
function runs(lines: readonly CodeLine[]): Change[] {
  const hunk = hunkOf(lines);
  const all: CodeLine[][] = [];
  lines.forEach((line, index) => {
    if (line.kind === undefined) return;
    if (index > 0 && all.at(-1)?.at(-1) === lines[index - 1]) all.at(-1)?.push(line);
    else all.push([line]);
  });
  return all.map((run): Change => {
    const added = run.filter(({ kind }) => kind === "added");
    const removal = added.length === 0;
    const numbers = (removal ? run : added).map(({ number = 0 }) => number);
    return { file: run[0]?.file ?? "", from: numbers[0] ?? 0, to: numbers.at(-1) ?? 0, removal, hunk };
  });
}

/** The code block that begins at a line: its content; undefined where there is none. */
export function codeAt(markdown: string, line: number): string | undefined {
  return md.parse(markdown, {}).find((token) => isCode(token) && code(token).first === line)?.content;
}

export function toHtml(markdown: string, toImage: ToImage): string {
  // All of the HTML: a text is also in labels, titles of links and names of files.
  return visible(md.render(markdown, { toImage } satisfies Env));
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
  if ("anchor" in to) return `<a href="#${anchor(to.anchor)}">`;
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
  return `<span class="missing">[${l10n.t("image: {0}", alt || l10n.t("not of this window's folders"))}]</span>`;
}

function isCode({ type }: Token): boolean {
  return type === "fence" || type === "code_block";
}

/** The block's lines, and where in the Markdown the first one is, counted from 1. */
function code(token: Token): { language: string; lines: CodeLine[]; first: number } {
  const [language = ""] = token.info.trim().split(/\s+/);
  const first = lineOf(token) + (token.type === "fence" ? 1 : 0);
  return { language, lines: codeLines(language, token.content), first };
}

function codeBlock(token: Token): string {
  const { language, lines, first } = code(token);
  const name = escaped(language);
  const rows = lines.map(({ text, kind, number }, index) => {
    const label = number === undefined ? "" : l10n.t("Comment on line {0}: {1}", number, text.slice(0, 80));
    const button = number === undefined ? "" : commentButtonAt(first + index, label, `${number}`);
    return `<div class="line ${kind ?? ""}">${button}<code>${escaped(text)}</code></div>`;
  });
  const button = (name: string, text: string, label = text) =>
    `<button type="button" class="${name}" data-line="${first}" aria-label="${escaped(label)}">` +
    `${escaped(text)}</button>`;
  const files = [...new Set(lines.flatMap(({ file }) => file ?? []))].join(", ");
  const apply = files === "" ? "" : button("apply", l10n.t("Apply"), l10n.t("Apply to {0}", files));
  const bar = `<div class="bar"><span>${escaped(files) || name}</span>${button("copy", l10n.t("Copy"))}${apply}</div>`;
  const result = apply === "" ? "" : `<p class="result" role="status" data-line="${first}"></p>`;
  const label = escaped(language === "" ? l10n.t("Code") : l10n.t("Code in {0}", language));
  const attributes = `class="code" role="group" aria-label="${label}" data-language="${name}"`;
  return `<div ${attributes}>${bar}${result}${rows.join("")}</div>\n`;
}

/** The button by which the user comments on the block that begins here. */
function commentButton(tokens: readonly Token[], index: number): string {
  const line = lineOf(tokens[index] as Token);
  const text = title(tokens.slice(index).find(({ type }) => type === "inline"));
  return commentButtonAt(line, l10n.t("Comment on {0}", text.slice(0, 80)), "");
}

function commentButtonAt(line: number, label: string, number: string): string {
  const name = escaped(label.replace(/\s+/g, " "));
  const data = `data-line="${line}" data-number="${number}"`;
  return `<button type="button" class="comment" tabindex="-1" ${data} aria-label="${name}"></button>`;
}

function lineOf({ map }: Token): number {
  return (map?.[0] ?? 0) + 1;
}

/** The text of the block that begins here: of a table, that of its first cell. */
function quoted(tokens: readonly Token[], index: number): string {
  return (tokens.slice(index).find(({ type }) => type === "inline")?.content ?? "").slice(0, quoteLimit);
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

/** The name by which a heading is linked to, as GitHub makes it; the page's own names have no such beginning. */
function anchor(text: string): string {
  const slug = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]+/gu, "")
    .replace(/\s+/gu, "-");
  return escaped(`heading-${slug}`);
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
