function () {
  // Functions for the roles and names of elements. What they learn of a document's labels
  // holds for one use: take new ones for each.
  const MAX_NAME = 200;

  // Marks of where a word may be broken are no part of it, nor is what marks lines of a snapshot.
  const squash = (s) => s.replace(/[\u0001-\u0004\u00ad\u200b]/g, "").replace(/\s+/g, " ").trim();
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);
  const set = (s) => new Set(s.split(" "));
  const skipped = set(
    "SCRIPT STYLE NOSCRIPT TEMPLATE HEAD META LINK TITLE BASE PARAM SOURCE TRACK DATALIST COLGROUP COL BR WBR RP",
  );
  const actionable = set(
    "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton tab " +
      "menuitem menuitemcheckbox menuitemradio treeitem option summary video audio canvas " +
      "color date time datetime-local month week",
  );
  const namedByContent = set(
    "button link heading checkbox radio switch tab option menuitem menuitemcheckbox menuitemradio treeitem summary " +
      "tooltip",
  );
  const tags = {
    BUTTON: "button", H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading",
    NAV: "navigation", MAIN: "main", ASIDE: "complementary", ARTICLE: "article", FORM: "form", SEARCH: "search",
    P: "paragraph", UL: "list", OL: "list", MENU: "list", LI: "listitem",
    TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TFOOT: "rowgroup",
    TR: "row", TD: "cell", HGROUP: "group", TEXTAREA: "textbox", OPTION: "option", FIELDSET: "group", DETAILS: "group",
    SUMMARY: "summary", DIALOG: "dialog", HR: "separator", PROGRESS: "progressbar", METER: "meter", OUTPUT: "status",
    FIGURE: "figure", BLOCKQUOTE: "blockquote", IFRAME: "iframe", FRAME: "iframe", VIDEO: "video", AUDIO: "audio",
    DEL: "deletion", S: "deletion", INS: "insertion", DT: "term", DD: "definition", CANVAS: "canvas",
    OPTGROUP: "group", SVG: "img", svg: "img", MATH: "math", math: "math",
  };
  const inputs = {
    button: "button", submit: "button", reset: "button", image: "button", file: "button",
    checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", color: "color",
    date: "date", time: "time", "datetime-local": "datetime-local", month: "month", week: "week",
  };

  // The roles of WAI-ARIA; a page may make up others, before one of these or alone.
  const roles = set(
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
      "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic " +
      "grid gridcell group heading image img insertion link list listbox listitem log main mark marquee math " +
      "menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph " +
      "presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator " +
      "slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term " +
      "textbox timer toolbar tooltip tree treegrid treeitem",
  );

  // What a custom element says by its ElementInternals counts where no attribute does.
  const ownSemantics = memory.anySemantics ? (e) => memory.semantics.get(e) : () => undefined;
  const aria = (e, name) => e.$getAttribute("aria-" + name) ?? ownSemantics(e)?.[name] ?? null;
  // labellersOf are the elements that aria-labelledby names, or a script by ariaLabelledByElements: then the
  // attribute is empty.
  function labellersOf(e) {
    const ids = e.$getAttribute("aria-labelledby");
    if (ids === null) return none;
    if (!ids) return e.$ariaLabelledByElements ?? none;
    const scope = e.$getRootNode();
    return ids.split(/\s+/).map((id) => scope.$getElementById?.(id)).filter(Boolean);
  }
  const sections = "article,aside,main,nav,section";
  const listed = /^(text|search|email|tel|url)$/; // the fields that may have a list
  // headsRow reports whether a cell is the head of its row: it says so, or data is beside it.
  function headsRow(e) {
    const scope = e.$getAttribute("scope")?.toLowerCase(), row = e.$parentElement;
    if (scope) return scope.startsWith("row");
    return row?.$parentElement?.$nodeName !== "THEAD" && [...row?.$children ?? []].some((c) => c.$nodeName === "TD");
  }
  function roleOf(e) {
    const given = e.$getAttribute("role");
    if (given) {
      const role = given.toLowerCase().split(/\s+/).find((r) => roles.has(r) || /^(doc|graphics)-/.test(r));
      if (role && !(role === "none" || role === "presentation"))
        return role === "image" ? "img" : role === "gridcell" ? "cell" : role;
      if (role && e.$tabIndex < 0) return "generic";
    }
    const own = ownSemantics(e)?.role;
    if (own) return own === "image" ? "img" : own === "gridcell" ? "cell" : own;
    switch (e.$nodeName) {
      case "A": case "AREA": return e.$hasAttribute("href") ? "link" : "generic";
      case "a": return e.$href.baseVal ? "link" : "generic"; // in a drawing
      case "IMG": return e.$getAttribute("alt") === "" && !aria(e, "label") && !labellersOf(e).length ? "none" : "img";
      case "INPUT":
        if (e.$type === "hidden") return "none";
        return e.$list && listed.test(e.$type) ? "combobox" : inputs[e.$type] ?? "textbox";
      case "SELECT": return e.$multiple || e.$size > 1 ? "listbox" : "combobox";
      case "SECTION":
        return ["aria-label", "aria-labelledby", "title"].some((name) => e.$hasAttribute(name)) ? "region" : "generic";
      case "OBJECT": case "EMBED": return library.showsDocument(e) ? "iframe" : "generic";
      case "TH": return headsRow(e) ? "rowheader" : "columnheader";
      case "HEADER": return e.$closest(sections) ? "generic" : "banner";
      case "FOOTER": return e.$closest(sections) ? "generic" : "contentinfo";
    }
    if (
      e.$isContentEditable && e.$nodeName !== "HTML" &&
      (e.$nodeName === "BODY" || !e.$parentElement?.$isContentEditable)
    ) return "textbox";
    return tags[e.$nodeName] ?? "generic";
  }

  const flat = (n) => {
    const shadow = library.shadowOf(n);
    if (shadow) return shadow.$childNodes;
    if (n.$nodeName === "SLOT") {
      const assigned = n.$assignedNodes();
      if (assigned.length) return assigned;
    }
    return n.$childNodes;
  };

  // generated are the texts that style sheets put before and after the content of an element,
  // without decoration and what has a counter, whose value no script can read. Each style
  // that is read takes time: only elements are asked that a rule with such a text selects, or
  // all of a document of moderate size with a style sheet of another origin, which has no
  // rules for scripts.
  const MAX_ASKED = 2000;
  const sheets = (memory.generating ??= new WeakMap()), generating = new WeakMap(), nothing = ["", ""];
  const wordy = /[\p{L}\p{N}\p{Sc}\p{So}*]/u, strings = /"(?:[^"\\]|\\.)*"/g;
  const addresses = /(url|src|type)\("(?:[^"\\]|\\.)*"\)/g;
  function selectorsOf(rules, parent) {
    return [...rules].flatMap((r) => {
      let selector = r.selectorText;
      if (selector && parent)
        selector = selector.includes("&")
          ? selector.replaceAll("&", `:is(${parent})`)
          : `:is(${parent}) :is(${selector})`;
      const inner = r.cssRules ?? r.styleSheet?.cssRules;
      const found = inner?.length ? selectorsOf(inner, selector ?? parent) : [];
      const of = selector ?? parent, content = of?.includes("::") && r.style?.content;
      if (
        content && /::(before|after)/.test(of) &&
        (/(attr|var)\(/.test(content) || wordy.test(content.match(strings) ?? ""))
      ) {
        found.push(of.replace(/(^|[\s>+~,(])(?=::)/g, "$1*").replace(/::(before|after)/g, ""));
      }
      return found;
    });
  }
  function generatingIn(scope) {
    const found = [...scope.$styleSheets, ...scope.$adoptedStyleSheets].flatMap((sheet) => {
      try {
        const { length } = sheet.cssRules;
        if (sheets.get(sheet)?.length !== length) sheets.set(sheet, { length, selectors: selectorsOf(sheet.cssRules) });
        return sheets.get(sheet).selectors;
      } catch {
        return document.$getElementsByTagName("*").length > MAX_ASKED ? [] : ["*"];
      }
    });
    const all = found.join();
    return {
      selector: found.length ? `:is(${all})` : "",
      hosts: /:host/.test(all), // of the element that the scope is in, whose selector no script can match
      slotted: all.includes("::slotted("),
      parts: all.includes("::part("),
    };
  }
  function rulesOf(scope) {
    let rules = generating.get(scope);
    if (!rules) generating.set(scope, (rules = scope?.$styleSheets ? generatingIn(scope) : {}));
    return rules;
  }
  // isGenerating reports whether a rule may select an element: of its own scope, of the shadow root in it, of the
  // one that has its slot, or of one around that it is a part in.
  function isGenerating(e) {
    const scope = e.$getRootNode(), { selector } = rulesOf(scope);
    if (selector && e.$matches(selector)) return true;
    const shadow = library.shadowOf(e), slot = e.$assignedSlot;
    if (shadow && rulesOf(shadow).hosts || slot && rulesOf(slot.$getRootNode()).slotted) return true;
    for (let host = e.$hasAttribute("part") && scope.$host; host; host = host.$getRootNode().$host)
      if (rulesOf(host.$getRootNode()).parts) return true;
    return false;
  }
  const generated = (e) =>
    isGenerating(e) ? [generatedBy(e, "::before"), generatedBy(e, "::after")] : nothing;
  function generatedBy(e, pseudo) {
    const style = getComputedStyle(e, pseudo), { content } = style;
    if (!content.includes('"') || /\bcounters?\(/.test(content) || isIcon(style)) return "";
    if (style.display === "none" || style.visibility !== "visible" || style.opacity === "0") return "";
    // After a slash is the text for assistive technology. The address of a picture is no text.
    const alternative = / \/ "/.test(content), parts = content.replace(addresses, "").match(strings) ?? [];
    const s = (alternative ? parts.slice(-1) : parts).map((s) => s.slice(1, -1)).join("")
      .replace(/\\([\da-f]{1,6}) ?|\\(.)/gi, (_, code, c) => c ?? String.fromCodePoint(parseInt(code, 16)));
    return !wordy.test(s) ? "" : style.display === "inline" && !alternative ? s : ` ${s} `;
  }
  // isIcon reports whether a style is that of a font whose letters are pictures.
  const isIcon = ({ fontFamily }) => /^[^,]*(icon|symbols)/i.test(fontFamily);

  // mathOf is a formula in one line: its parts run together otherwise, as 12 for a half.
  function mathOf(e) {
    const parts = [...e.$children].filter((c) => !c.$localName.startsWith("annotation")).map(mathOf);
    if (!parts.length) return squash(e.$textContent);
    const [a = "", b = "", c = ""] = parts.map((s) => (/^[\p{L}\p{M}]*$|^[\d.,]*$/u.test(s) ? s : `(${s})`));
    switch (e.$localName) {
      case "mfrac": return `${a}/${b}`;
      case "msup": return `${a}^${b}`;
      case "msub": case "munder": return `${a}_${b}`;
      case "msubsup": case "munderover": return `${a}_${b}^${c}`;
      case "msqrt": return `√(${parts.join("")})`;
      case "mroot": return `${b}√${a}`;
      case "mtr": return parts.join(", ");
      case "mtable": return parts.join("; ");
    }
    return parts.join("");
  }

  // decorative reports whether what is hidden from assistive technology is nothing to read: an
  // icon, or what a text for assistive technology beside it stands for.
  const decorative = (e) => !/[\p{L}\p{N}]/u.test(e.$textContent) || isIcon(getComputedStyle(e)) ||
    [e.$previousElementSibling, e.$nextElementSibling]
      .some((c) => c?.$offsetHeight === 1 && c.$offsetWidth === 1 && c.$textContent.trim());

  // valueIn is what a control adds to the name that its text is a part of: its value, which
  // nobody sees of a password. Undefined: the element is no such control.
  const numeric = /^(slider|spinbutton|scrollbar|progressbar|meter)$/;
  const valueless = /^(checkbox|radio|hidden|password|file|color|image)$/;
  function valueIn(e) {
    switch (e.$nodeName) {
      case "INPUT": return valueless.test(e.$type) ? "" : e.$value;
      case "TEXTAREA": case "PROGRESS": case "METER": return String(e.$value);
      case "SELECT": return [...e.$selectedOptions].map((o) => o.$label).join(" ");
    }
    const role = e.$getAttribute("role") ?? "";
    if (numeric.test(role)) return aria(e, "valuetext") ?? aria(e, "valuenow") ?? "";
    if (role === "listbox") {
      const selected = e.$querySelectorAll("[role=option][aria-selected=true]");
      return [...selected].map((o) => textOf(o)).join(" ");
    }
  }

  // textOf is the text of an element, as the name of something (accname 1.2, 2F). What stands
  // apart is a line of its own, as an inline block is: only letters in a line make a word.
  const atoms = set("IMG svg math INPUT SELECT TEXTAREA PROGRESS METER VIDEO AUDIO CANVAS OBJECT IFRAME");
  const apart = (e, { display }) => atoms.has(e.$nodeName) || numeric.test(e.$getAttribute("role")) ||
    !/^(inline|contents|ruby|math)$/.test(display) ||
    /^(grid)?cell$|^(row|column)header$/.test(e.$getAttribute("role"));
  function textOf(n, skip, budget = { left: MAX_NAME * 2 }) {
    const [before, after] = generated(n);
    let s = before;
    for (const c of unfolded(n)) {
      if (budget.left <= 0) break;
      if (c === skip) {
        if (displayed(c)) s += " "; // a control stands apart from the text of its label
      } else if (c.$nodeType === 3) {
        s += c.$nodeValue;
        budget.left -= c.$nodeValue.length;
      } else if (c.$nodeName === "BR") {
        s += " ";
      } else if (
        c.$nodeType === 1 && !skipped.has(c.$nodeName) && c.$nodeName !== "RT" &&
        aria(c, "hidden") !== "true"
      ) {
        const style = getComputedStyle(c);
        if (style.display === "none" || style.visibility !== "visible") continue;
        const value = valueIn(c), own = value || ownText(c);
        const content = value === undefined && !own && style.contentVisibility !== "hidden";
        const inner = own || (content && textOf(c, skip, budget)) || c.$getAttribute("title") || "";
        if (apart(c, style)) s += `\u2029${inner}\u2029`;
        else s += own || style.display === "contents" ? ` ${inner} ` : inner;
      }
    }
    return s + after;
  }
  // unfolded are the nodes in one, of closed details only the summary; folded reports whether an element is
  // in what is closed or skipped so.
  const unfolded = (n) => {
    if (n.$nodeName !== "DETAILS" || n.$open) return flat(n);
    return [...n.$children].filter((c) => c.$nodeName === "SUMMARY").slice(0, 1);
  };
  function folded(e) {
    for (let n = e, p; !e.$checkVisibility() && (p = parentOf(n)); n = p)
      if (p.$nodeName === "DETAILS" && !p.$open && n !== unfolded(p)[0]) return true;
    return false;
  }
  // ownText names an element in place of its content.
  const ownText = (e) => aria(e, "label")?.trim() || (
    e.$nodeName === "IMG" ? e.$alt : e.$nodeName === "svg" ? svgTitle(e) : e.$nodeName === "math" ? mathOf(e) : ""
  );
  const svgTitle = (e) => e.$querySelector(":scope > title")?.$textContent ?? "";

  function nameOf(e, role) {
    const by = labellersOf(e)
      .filter((l) => !folded(l))
      .map((l) => aria(l, "label") || valueIn(l) || l.$alt || textOf(l));
    let s = squash(by.join(" ")) || squash(aria(e, "label") ?? "");
    if (s) return s;
    switch (e.$nodeName) {
      case "INPUT":
        if (e.$type === "submit" || e.$type === "reset" || e.$type === "button")
          s = e.$hasAttribute("value") ? e.$value : { submit: "Submit", reset: "Reset", button: "" }[e.$type];
        else if (e.$type === "image") s = e.$alt || e.$value || e.$getAttribute("title") || "Submit";
        break;
      case "OPTION": case "OPTGROUP": s = e.$label; break;
      case "IMG": case "AREA": s = e.$alt; break;
      case "svg": s = svgTitle(e); break;
      case "FIELDSET": s = legend(e, "legend"); break;
      case "TABLE": s = legend(e, "caption"); break;
      case "FIGURE": s = legend(e, "figcaption"); break;
      default: if (e.$ownerSVGElement) s = svgTitle(e);
    }
    if (!s) s = labelsOf(e).filter(displayed).map((l) => aria(l, "label") || textOf(l, e)).join(" ");
    if (!s && namedByContent.has(role)) {
      const below = role === "treeitem" ? e.$querySelector("[role=group]") : null;
      s = textOf(e, below); // without the items below it
    }
    s = squash(s ?? "");
    return s || squash(e.$getAttribute("title") ?? "") ||
      squash(e.$getAttribute("placeholder") ?? aria(e, "placeholder") ?? "");
  }
  const displayed = (e) => e.$checkVisibility({ visibilityProperty: true }) ||
    getComputedStyle(e).display === "contents";
  // wholeName is nameOf, and of a part of a table its text, which a snapshot shows as that.
  const tabular = set("cell row columnheader rowheader");
  const wholeName = (e, role) => nameOf(e, role) || (tabular.has(role) ? squash(textOf(e)) : "");
  // labelsOf is e.labels, which searches the whole tree for each control.
  const labelled = new Map(), none = [];
  function labelsOf(e) {
    if (e.$labels === undefined && !e.$localName.includes("-")) return none; // of a custom one only the class knows
    const scope = e.$getRootNode();
    let labels = labelled.get(scope);
    if (!labels) {
      labelled.set(scope, (labels = new Map()));
      for (const l of scope.$querySelectorAll("label")) {
        const control = l.$control;
        if (control) labels.set(control, [...(labels.get(control) ?? none), l]);
      }
    }
    return labels.get(e) ?? none;
  }
  const legend = (e, tag) => { const l = e.$querySelector(":scope > " + tag); return l ? textOf(l) : ""; };

  // hint is what distinguishes one from another that has neither name nor text.
  function hintOf(e) {
    const icon = e.$querySelector("use")?.$getAttribute("href");
    const found = [
      ["id", e.$getAttribute("id")], ["name", e.$getAttribute("name")],
      ["testid", e.$getAttribute("data-testid")], ["icon", icon],
      ["class", e.$firstElementChild?.$getAttribute("class")], ["class", e.$getAttribute("class")],
    ].find(([, value]) => value && squash(value));
    return found ? found[0] + "=" + limit(squash(found[1]), 40) : "";
  }

  // named is the role and name of what an action on an element acts on: of a part of a
  // button that is the button, of a label its control. Where it has no name its text counts,
  // and a hint where it has no text either.
  const whole = set(
    "button link checkbox radio switch tab option menuitem menuitemcheckbox menuitemradio treeitem summary textbox",
  );
  const parentOf = (n) => n.$assignedSlot ?? n.$parentNode ?? n.$host;
  const controlOf = (n) => (n.$nodeName === "LABEL" ? n.$control : null);
  function named(e) {
    for (let n = actionable.has(roleOf(e)) ? null : e; n; n = parentOf(n)) {
      if (n.$nodeType !== 1 || !(controlOf(n) || whole.has(roleOf(n)))) continue;
      // A twisty or a box in the item of a tree does something else than the item.
      if (n === e || roleOf(n) !== "treeitem" || /[\p{L}\p{N}]/u.test(e.$textContent)) e = controlOf(n) ?? n;
      break;
    }
    const role = roleOf(e);
    const name = limit(nameOf(e, role) || (actionable.has(role) ? "" : limit(squash(textOf(e)), 80)), MAX_NAME);
    const password = e.$nodeName === "INPUT" && (e.$type === "password" || /-password/.test(e.$autocomplete));
    return { role, name, hint: name ? "" : hintOf(e), password };
  }

  // identify is named; where the mouse hits a control in the element, of that control. self
  // is the element then. No action may fail because its element has no description.
  function identify(e, hit) {
    try {
      let inner = null;
      for (let n = hit; n; n = parentOf(n)) {
        if (n === e) return inner ? { ...named(inner), self: labelOf(named(e)) } : named(e);
        if (n.$nodeType === 1 && (controlOf(n) || actionable.has(roleOf(n)))) inner = n;
      }
      return named(e);
    } catch {
      return { role: "" };
    }
  }

  const quote = (s) => `"${s.replace(/["\\]/g, "\\$&")}"`;
  const labelOf = ({ role, name }) => role + (name ? " " + quote(name) : "");

  return {
    roles, MAX_NAME, squash, limit, set, skipped, actionable, namedByContent, aria, roleOf, flat, generated, mathOf,
    decorative, apart, textOf, nameOf, wholeName, labelsOf, hintOf, quote, labelOf, named, identify,
  };
}
