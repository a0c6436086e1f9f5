// Colours code. It runs here and not in the extension host, which a text of a client must not be able to hold up.
import bash from "@speed-highlight/core/languages/bash.js";
import css from "@speed-highlight/core/languages/css.js";
import go from "@speed-highlight/core/languages/go.js";
import html from "@speed-highlight/core/languages/html.js";
import js from "@speed-highlight/core/languages/js.js";
import json from "@speed-highlight/core/languages/json.js";
import py from "@speed-highlight/core/languages/py.js";
import rs from "@speed-highlight/core/languages/rs.js";
import ts from "@speed-highlight/core/languages/ts.js";
import yaml from "@speed-highlight/core/languages/yaml.js";
import { type ShjLanguageData, tokenizeWith } from "@speed-highlight/core/tokenize";

const languages: Record<string, ShjLanguageData> = { bash, css, go, html, js, json, py, rs, ts, yaml };

const aliases: Record<string, string> = {
  javascript: "js",
  jsx: "js",
  jsonc: "json",
  python: "py",
  rust: "rs",
  sh: "bash",
  shell: "bash",
  tsx: "ts",
  typescript: "ts",
  vue: "html",
  xml: "html",
  svg: "html",
  yml: "yaml",
};

/** The longest code that is coloured, in characters. */
const longest = 50_000;

/** Colours the lines of a code block, if its language is known. */
export function highlight(block: HTMLElement): void {
  const name = (block.dataset.language ?? "").toLowerCase();
  const known = aliases[name] ?? name;
  const language = Object.hasOwn(languages, known) ? languages[known] : undefined;
  const lines = [...block.querySelectorAll(".line > code")];
  const code = lines.map(({ textContent }) => textContent).join("\n");
  if (!language || code.length > longest) return;
  const coloured: (string | Node)[][] = [[]];
  tokenizeWith(
    code,
    language,
    (text, kind) => {
      text.split("\n").forEach((part, index) => {
        if (index > 0) coloured.push([]);
        if (part !== "") coloured.at(-1)?.push(kind ? span(part, kind) : part);
      });
    },
    { languages },
  );
  lines.forEach((line, index) => {
    line.replaceChildren(...(coloured[index] ?? []));
  });
}

function span(text: string, kind: string): Node {
  return Object.assign(document.createElement("span"), { className: `token-${kind}`, textContent: text });
}
