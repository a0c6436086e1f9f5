function () {
  // The readable part of this document (or of the element that this is) as
  // Markdown: what it shows, without what is there on every page of a site.
  const skipped = new Set(
    "SCRIPT STYLE NOSCRIPT TEMPLATE HEAD META LINK TITLE SVG svg CANVAS BUTTON DATALIST VIDEO AUDIO".split(
      " ",
    ),
  );
  const around =
    "nav,aside,footer,[role=navigation],[role=complementary],[role=contentinfo],[role=search],[role=banner]";
  const given = this instanceof Element;
  const { shown, displayed } = library.visibility(), { generated, mathOf, decorative } = library.naming();
  const pick = () => {
    const read = (selector) => [...document.$querySelectorAll(selector)].filter((e) => shown(e) && e.$innerText.trim());
    const all = document.$body ?? document.$documentElement;
    const mains = read("main,[role=main]"), articles = read("article");
    if (mains.length === 1) return mains[0];
    if (articles.length !== 1) return all;
    // The only article may also be a review below the product that the page is about.
    const article = articles[0];
    const title = read("h1").find((e) => article.$contains(e) || !e.$closest("header," + around));
    return title && article.$contains(title) || article.$innerText.length > all.$innerText.length / 2 ? article : all;
  };
  const root = given ? this : pick();
  const flat = (n) => {
    const shadow = library.shadowOf(n);
    if (shadow) return shadow.$childNodes;
    if (n.$nodeName === "SLOT") {
      const assigned = n.$assignedNodes();
      if (assigned.length) return assigned;
    }
    return n.$childNodes;
  };
  let inCell = false; // there a button's text is often all that the cell holds
  const seen = (e) => {
    if (
      (skipped.has(e.$nodeName) && !(inCell && e.$nodeName === "BUTTON")) ||
      (e.$ariaHidden === "true" && decorative(e))
    )
      return false;
    // What is hidden may have a part that is shown, which is positioned elsewhere for example.
    return shown(e) || displayed(e) && [...e.$querySelectorAll("*")].some((inner) => shown(inner));
  };
  const mute = (e) => e !== root && !shown(e);
  const shows = (e) =>
    seen(e) &&
    (given ||
      e === root ||
      (!e.$matches(around) && !(e.$nodeName === "HEADER" && !e.$closest("article,main,section"))));
  const isBlock = (e) => !/^(inline|contents|ruby|math)/.test(getComputedStyle(e).display);
  const escape = (s) => s.replace(/[\\`*_[\]<]/g, "\\$&");
  const url = (s) => { try { return new URL(s, document.$baseURI).href; } catch { return s; } };

  // inline is what stands in one line; blocks inside of it are set apart.
  function inline(n, raw) {
    const silent = mute(n), [before, after] = silent ? ["", ""] : generated(n).map(escape);
    let s = before;
    for (const c of flat(n)) {
      if (c.$nodeType === 3) s += silent ? "" : raw ? c.$nodeValue : escape(c.$nodeValue.replace(/\s+/g, " "));
      else if (c.$nodeType === 1 && (c.$nodeName === "BR" || seen(c))) s += phrase(c, raw);
    }
    return s + after;
  }
  const wrap = (mark, s) => { const t = s.trim(); return t ? s.replace(t, () => mark + t + mark) : s; };
  function phrase(e, raw) {
    switch (e.$nodeName) {
      case "BR": return raw ? "\n" : "  \n";
      case "A": {
        const text = inline(e).trim(),
          href = e.$getAttribute("href");
        return !text
          ? ""
          : href && !href.startsWith("javascript:")
            ? `[${text.replace(/\s*\n\s*/g, " ")}](${url(href)})`
            : text;
      }
      case "STRONG":
      case "B":
        return wrap("**", inline(e));
      case "EM":
      case "I":
        return wrap("*", inline(e));
      case "DEL":
      case "S":
        return wrap("~~", inline(e));
      case "CODE":
      case "KBD":
      case "SAMP":
      case "TT": {
        const t = inline(e, true).trim();
        return raw ? t : t ? "`" + t + "`" : "";
      }
      case "IMG":
        return e.$alt ? `![${escape(e.$alt)}](${e.$src.startsWith("data:") ? "" : e.$currentSrc || e.$src})` : "";
      case "INPUT":
        return ["hidden", "submit", "button", "password"].includes(e.$type)
          ? ""
          : ["checkbox", "radio"].includes(e.$type)
            ? e.$checked
              ? "[x] "
              : "[ ] "
            : ` ${escape(e.$value)} `;
      case "TEXTAREA":
        return ` ${escape(e.$value)} `;
      case "SELECT":
        return ` ${escape([...e.$selectedOptions].map((o) => o.$label).join(", "))} `;
      case "math":
        return escape(mathOf(e));
      case "BUTTON":
        return ` ${inline(e)} `;
      case "SUP": {
        const t = inline(e).trim();
        return t ? `^${t}` : "";
      }
    }
    return isBlock(e) ? ` ${inline(e, raw)} ` : inline(e, raw);
  }
  const tidy = (s) => s.replace(/[ \t]+/g, " ").replace(/ ?\n ?/g, (m) => (m.startsWith(" ") ? "  \n" : "\n")).trim();
  const indent = (s, by) => s.split("\n").map((l) => (l ? by + l : l)).join("\n");

  // blocks is a list of blocks of Markdown.
  function blocks(n) {
    const out = [], silent = mute(n), [before, after] = silent ? ["", ""] : generated(n).map(escape);
    let line = before;
    const flush = () => {
      const t = tidy(line);
      if (t) out.push(t);
      line = "";
    };
    for (const c of flat(n)) {
      if (c.$nodeType === 3) line += silent ? "" : escape(c.$nodeValue.replace(/\s+/g, " "));
      else if (c.$nodeType === 1 && (c.$nodeName === "BR" || shows(c))) {
        const inner = c.$nodeName !== "BR" && (isBlock(c) || library.showsDocument(c) || holdsBlock(c));
        if (!inner) { line += phrase(c); continue; }
        flush();
        out.push(...block(c));
      }
    }
    line += after;
    flush();
    return out;
  }
  const holdsBlock = (e) =>
    e.$nodeName !== "SELECT" &&
    e.$nodeName !== "math" &&
    (getComputedStyle(e).display === "contents" ||
      [...flat(e)].some((c) => c.$nodeType === 1 && seen(c) && isBlock(c)));

  function block(e) {
    if (rowBlocks.has(e)) return rowBlocks.get(e);
    if (library.showsDocument(e)) {
      const address = e.$src ?? e.$data;
      return address && !address.startsWith("about:") ? [`[frame: ${escape(e.$title || address)}](${address})`] : [];
    }
    if (e.$nodeName !== "TABLE" && e.$matches(tables)) return ariaTable(e);
    const heading = /^H([1-6])$/.exec(e.$nodeName);
    if (heading) {
      const t = tidy(inline(e)).replace(/\s*\n/g, " ");
      return t ? ["#".repeat(+heading[1]) + " " + t] : [];
    }
    switch (e.$nodeName) {
      case "PRE": {
        const text = (e.$innerText ?? "").replace(/\n$/, ""), fence = text.includes("```") ? "````" : "```";
        const language = /language-([\w+#-]+)/.exec((e.$querySelector("code") ?? e).$className)?.[1] ?? "";
        return text.trim() ? [`${fence}${language}\n${text}\n${fence}`] : [];
      }
      case "BLOCKQUOTE": {
        const t = blocks(e).join("\n\n");
        return t
          ? [
              t
                .split("\n")
                .map((l) => ("> " + l).trimEnd())
                .join("\n"),
            ]
          : [];
      }
      case "HR":
        return ["---"];
      case "UL":
      case "OL":
      case "MENU":
        return list(e);
      case "DL":
        return [blocks(e).join("\n")].filter(Boolean);
      case "DT": {
        const t = tidy(inline(e));
        return t ? [`**${t}**`] : [];
      }
      case "DD": {
        const t = blocks(e).join("\n\n");
        return t ? [": " + indent(t, "  ").trimStart()] : [];
      }
      case "TABLE":
        return table(e);
      case "math":
        return [phrase(e)];
      case "INPUT":
      case "TEXTAREA":
      case "SELECT":
      case "IMG":
      case "A": {
        const t = holdsBlock(e) ? "" : tidy(phrase(e));
        return t ? [t] : blocks(e);
      }
    }
    return blocks(e);
  }
  function list(e) {
    const items = [];
    const step = e.$reversed ? -1 : 1;
    let n = e.$reversed && !e.$hasAttribute("start") ? e.$querySelectorAll(":scope > li").length : e.$start ?? 1;
    for (const li of flat(e)) {
      if (li.$nodeType !== 1 || !shows(li)) continue;
      if (li.$hasAttribute("value")) n = li.$value;
      const parts = blocks(li), mark = e.$nodeName === "OL" ? `${n}. ` : "- ";
      n += step;
      if (!parts.length) continue;
      const loose = parts.slice(1).some((p) => !/^(- |\d+\. )/.test(p));
      items.push(mark + indent(parts.join(loose ? "\n\n" : "\n"), " ".repeat(mark.length)).trimStart());
    }
    return items.length ? [items.join("\n")] : [];
  }
  const cellText = (c) => {
    if (!seen(c)) return "";
    inCell = true;
    const text = tidy(inline(c)).replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|");
    inCell = false;
    return text;
  };
  function table(e) {
    const rows = [...e.$rows].map((r) => [r, [...r.$cells]]);
    const lines = tableOf(rows, !e.$querySelector(tables));
    if (!lines) return rows.filter(([r]) => seen(r)).flatMap(([, cells]) => cells).filter(seen).flatMap(blocks);
    return [...(e.$caption && seen(e.$caption) ? [tidy(inline(e.$caption))] : []), lines];
  }
  const tables = "table, [role=table], [role=grid], [role=treegrid]";
  // parts are the elements in another one with a role, but not those of a table in it.
  const parts = (n, roles) =>
    [...flat(n)]
      .filter((c) => c.$nodeType === 1)
      .flatMap((c) => (c.$matches(roles) ? [c] : c.$matches(tables) || !seen(c) ? [] : parts(c, roles)));
  const rowBlocks = new Map(); // of the rows of an ARIA table: the first has all of it
  function ariaTable(e) {
    const rows = parts(e, "[role=row]").map((r) => [
      r,
      parts(r, "[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]"),
    ]);
    const lines = tableOf(rows, !rows.some(([r]) => r.$querySelector(tables)));
    const shown = lines ? rows.filter(([r]) => shows(r)) : [];
    shown.forEach(([r], i) => rowBlocks.set(r, i ? [] : [lines]));
    return blocks(e); // what is around the rows too
  }
  // tableOf is a table of rows and their cells; "" if it only lays out.
  function tableOf(all, flatCells) {
    const rows = all
      .filter(([r]) => displayed(r))
      .map(([r, cells]) => ({ shown: seen(r), cells: cells.filter((c) => displayed(c)) }));
    const shown = rows.filter((r) => r.shown).map((r) => r.cells.filter(seen));
    // A table that only lays out, or holds others, is not one to read.
    if (!shown.length || !flatCells || Math.max(...shown.map((r) => r.length)) < 2) return "";
    const until = []; // the row at which each column is free again
    // A grid may have only some of its columns.
    const numbers = new Set(rows.flatMap((r) => r.cells).map((c) => +c.$ariaColIndex));
    const columns = [...numbers].filter(Boolean).sort((a, b) => a - b);
    rows.forEach((r, y) => {
      let column = 0;
      r.texts = [];
      for (const c of r.cells) {
        while (until[column] > y) column++;
        if (+c.$ariaColIndex) column = Math.max(column, columns.indexOf(+c.$ariaColIndex));
        r.texts[column] = cellText(c);
        for (let i = 0; i < (c.$colSpan ?? (+c.$ariaColSpan || 1)); i++) {
          r.texts[column] ??= "";
          until[column++] = c.$rowSpan === 0 ? Infinity : y + (c.$rowSpan ?? (+c.$ariaRowSpan || 1));
        }
      }
    });
    const lines = rows.filter((r) => r.shown);
    const width = Math.max(...lines.map((r) => r.texts.length));
    const print = (texts) => "| " + Array.from({ length: width }, (_, i) => texts[i] ?? "").join(" | ") + " |";
    const head = lines[0].cells.every((c) => c.$matches("th, [role=columnheader]")) ? lines.shift().texts : [];
    return [print(head), "|" + " --- |".repeat(width), ...lines.map((r) => print(r.texts))].join("\n");
  }

  const text = block(root)
    .join("\n\n")
    .replace(/[ \t]+$/gm, (s, at, whole) => (s === "  " && whole[at + 2] === "\n" ? s : ""));
  return { title: document.$title, url: location.href, text: library.noElements() || text };
}
