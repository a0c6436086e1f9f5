function (root, { last, depth, interactive, look, clipped, full, most = Infinity, landmarks }) {
  // The accessibility tree of an element as items, and their lines. It runs in our
  // isolated world, which also keeps the elements that it has numbered, see numbering.
  // called is what the answers called the numbered elements.
  const { numbers, elements, called } = memory;
  const MAX_CUSTOMS = 50;
  const customs = (memory.customs = (memory.customs ?? []).filter(
    (e) => e.$isConnected && !memory.plain.has(e.$localName),
  ));
  const MAX_TEXT = full ? Infinity : 1000,
    MAX_OPTIONS = 300,
    MAX_ADDRESS = 80,
    MAX_HINT = 80,
    MAX_GAP = 10;
  const fresh = [],
    hidden = [],
    shadows = [];
  let visited = 0,
    ended = false;
  const {
    MAX_NAME,
    squash,
    limit,
    set,
    skipped,
    actionable,
    namedByContent,
    aria,
    roleOf,
    flat,
    generated,
    mathOf,
    decorative,
    apart,
    textOf,
    nameOf,
    wholeName,
    labelsOf,
    hintOf,
    quote,
    labelOf,
    named,
  } = library.naming();

  const { up, collapsed, displayed, shown: isShown, unseen } = library.visibility();

  const silent = set(
    "generic none presentation group rowgroup paragraph form region article strong emphasis code " +
      "deletion insertion subscript superscript figure blockquote term definition mark caption",
  );

  function valueOf(e, role) {
    if (e.$nodeName === "INPUT") {
      if (e.$type === "password") return "•".repeat(Math.min(e.$value.length, 8));
      if (e.$type === "file") return [...e.$files].map((f) => f.name).join(", ");
      if (["button", "submit", "reset", "image", "checkbox", "radio"].includes(e.$type)) return "";
      return e.$value;
    }
    if (e.$nodeName === "TEXTAREA") return e.$value;
    if (e.$nodeName === "PROGRESS" && e.$position < 0) return ""; // nobody knows how far it is
    const gauge = e.$nodeName === "PROGRESS" || e.$nodeName === "METER";
    const value = gauge ? String(e.$value) : (aria(e, "valuetext") ?? aria(e, "valuenow") ?? "");
    const most = gauge
      ? String(e.$max)
      : role === "progressbar" || role === "meter"
        ? (aria(e, "valuemax") ?? "100")
        : "100";
    return value && most !== "100" && value !== aria(e, "valuetext") ? `${value} of ${most}` : value;
  }
  const valued = set(
    "textbox searchbox slider spinbutton progressbar meter scrollbar color date time datetime-local month week",
  );

  // disabled: a control is disabled with what it is in, unless something between says otherwise.
  function disabled(e, role) {
    const own = aria(e, "disabled");
    if (own !== null || !actionable.has(role)) return own === "true";
    for (let n = e; n; n = n.$getRootNode().$host) {
      const holder = n.$closest("[aria-disabled]");
      if (holder) return aria(holder, "disabled") === "true";
    }
    return false;
  }

  // inert: nothing there can be acted on, as behind a modal dialog.
  // Of several, only the one that was opened last is hit by the pointer.
  const all = [...document.$querySelectorAll("dialog:modal")];
  const onTop =
    all.length > 1
      ? all.filter((d) => {
          const r = d.$getBoundingClientRect();
          return d.$contains(document.$elementFromPoint(r.left + r.width / 2, r.top + r.height / 2));
        })
      : [];
  const modals = onTop.length ? onTop : all;
  function inert(e) {
    if (e.$closest("[inert]")) return true;
    if (!modals.length) return false;
    while (e && !modals.includes(e)) e = up(e);
    return !e;
  }

  // invalid: the browser would not send the form for this. It tells the user only when they
  // leave the field, and of an empty field at the attempt.
  const checked = set("checkbox radio file");
  const invalid = (e) =>
    e.$matches(":user-invalid") ||
    (controls.has(e.$nodeName) &&
      !!e.$value &&
      !checked.has(e.$type) &&
      e.$matches(":invalid") &&
      !e.$form?.$noValidate);

  // isOpen reports whether a dropdown is open that the page draws; the browser's own takes all input.
  const opens = CSS.supports("selector(:open)");
  const isOpen = (e) => opens && e.$nodeName === "SELECT" && e.$matches(":open");

  function attributesOf(e, role) {
    const a = [];
    const tri = (word, value) => {
      if (value === "true" || value === true) a.push(word);
      else if (value === "mixed") a.push(word + "=mixed");
    };
    if (
      role === "checkbox" ||
      role === "radio" ||
      role === "switch" ||
      role === "treeitem" ||
      role === "option" ||
      role.startsWith("menuitem")
    ) {
      tri("checked", e.$nodeName === "INPUT" ? (e.$indeterminate ? "mixed" : e.$checked) : aria(e, "checked"));
    }
    tri("pressed", aria(e, "pressed"));
    if (aria(e, "selected") === "true") a.push("selected");
    const expanded =
      e.$nodeName === "SUMMARY"
        ? String(e.$parentElement?.$open === true)
        : aria(e, "expanded") ?? (isOpen(e) ? "true" : null);
    if (expanded === "true") a.push("expanded");
    else if (expanded === "false") a.push("collapsed");
    if (e.$matches(":disabled") || disabled(e, role)) a.push("disabled");
    if (actionable.has(role) && inert(e)) a.push("inert");
    // Of a tree in one list, or in the rows of a table, only this says what is below what.
    const level = aria(e, "level");
    if (level && (role === "row" || (role === "treeitem" && Number(level) !== depthOf(e)))) a.push("level=" + level);
    if (role === "heading")
      a.push("level=" + (aria(e, "level") ?? (/^H[1-6]$/.test(e.$nodeName) ? e.$nodeName[1] : "2")));
    if (e.$required || aria(e, "required") === "true") a.push("required");
    if (e.$readOnly && valued.has(role)) a.push("readonly");
    if (aria(e, "invalid") ? aria(e, "invalid") !== "false" : invalid(e)) a.push("invalid");
    if (aria(e, "current") && aria(e, "current") !== "false") a.push("current");
    if (role === "dialog" && (aria(e, "modal") === "true" || e.$matches(":modal"))) a.push("modal");
    if (e !== document.$body && e.$getRootNode().$activeElement === e && !library.shadowOf(e)) a.push("active");
    if (aria(e, "busy") === "true") a.push("busy");
    const popup = aria(e, "haspopup");
    if (popup && popup !== "false") a.push("haspopup=" + (popup === "true" ? "menu" : popup));
    const sort = aria(e, "sort");
    if (sort && sort !== "none") a.push("sort=" + sort);
    const rows = aria(e, "rowcount");
    if (rows && rows !== String(e.$querySelectorAll("tr,[role=row]").length))
      a.push("rowcount=" + (rows === "-1" ? "unknown" : rows));
    return a;
  }

  // depthOf is the level of an item in a tree by what it is in.
  function depthOf(e) {
    let depth = 1;
    for (let n = up(e); n && n.$getAttribute("role") !== "tree"; n = up(n))
      if (n.$getAttribute("role") === "group") depth++;
    return depth;
  }

  // addressOf is the address of a link: that of this site without its origin.
  function addressOf(e) {
    const href = String(e.$href.baseVal ?? e.$href);
    let u;
    try { u = new URL(href, document.$baseURI); } catch { return ""; }
    if (u.protocol === "javascript:" || /#$/.test(href)) return "";
    const here = u.href.split("#")[0] === location.href.split("#")[0];
    if (here && u.hash) return limit(u.hash, MAX_ADDRESS);
    if (!/^https?:$/.test(u.protocol)) return limit(u.href, MAX_ADDRESS); // it has no origin
    return limit(
      (u.origin === location.origin ? "" : u.origin.replace("https://", "")) + u.pathname + u.search + u.hash,
      MAX_ADDRESS,
    );
  }

  // hints describe more of an element with this name and text.
  function hintsOf(e, item) {
    const hints = [], address = item.role === "link" && e.$href ? addressOf(e) : "";
    if (address) hints.push("url=" + address);
    const other = (word, value) => {
      const words = squash(value ?? "");
      if (words && !`${item.name} ${item.text ?? ""}`.includes(words))
        hints.push(`${word}=${quote(limit(words, MAX_HINT))}`);
    };
    if (controls.has(e.$nodeName) && !e.$value) other("placeholder", e.$placeholder);
    other("title", e.$getAttribute("title"));
    if (controls.has(e.$nodeName) && invalid(e)) other("message", e.$validationMessage);
    return hints;
  }

  function number(e, item) {
    let n = numbers.get(e);
    if (!n) {
      n = ++last;
      numbers.set(e, n);
      elements.set(n, new WeakRef(e));
      memory.given.push(n);
    }
    const now = labelOf(actionable.has(item.role) ? item : named(e));
    if (called.get(e) !== now) {
      called.set(e, now);
      fresh.push([n, now]);
    }
    return n;
  }

  // Items are {role, name, attributes, ref, text, kids}; texts have the role
  // "text".
  const text = (s, owner) => ({ role: "text", text: s, kids: [], owner });
  // partsOf are the elements that a text is in: it is another text without one of them.
  const partsOf = (it) => (it.parts ? [it.owner, ...it.parts] : [it.owner]);
  // add appends items; texts that stand side by side become one unless a block
  // begins or ends between them.
  function add(items, more, apart) {
    if (apart) items.apart = true;
    for (const it of more) {
      const before = items[items.length - 1], boundary = items.apart || it.apart;
      items.apart = false;
      if (it.role === "text" && before?.role === "text" && (!boundary || !before.text.trim())) {
        if (boundary) { // a blank before a block is no part of the block's text
          before.owner = it.owner;
          before.parts = it.parts;
        } else {
          before.parts = [...(before.parts ?? []), ...partsOf(it)];
        }
        before.text += it.text;
      } else {
        it.apart = boundary;
        items.push(it);
      }
    }
    if (apart) items.apart = true;
  }
  function tidy(items) {
    const kept = [];
    for (const it of items) {
      if (it.role === "text" && !(it.text = limit(squash(it.text), MAX_TEXT))) continue;
      kept.push(it);
    }
    return kept;
  }

  // childrenOf are the items in an element; of a hidden one without its own texts.
  function childrenOf(e, cursor, mute) {
    const items = [];
    const closed = e.$nodeName === "DETAILS" && !e.$open;
    const shadow = library.shadowOf(e);
    if (shadow) shadows.push(shadow);
    const [before, after] = mute ? ["", ""] : generated(e);
    if (before) add(items, [text(before, e)], false);
    const n = e.$nodeName === "LI" && !mute && numberOf(e);
    if (n) add(items, [text(`${n}. `, e)], false);
    let previous;
    for (const c of flat(e)) {
      if (visited > most) {
        if (!ended) add(items, [text("…", e)], true);
        ended = true;
        break;
      }
      if (closed && c.$nodeName !== "SUMMARY") continue;
      if (c.$nodeType === 3) {
        if (c.$nodeValue && !mute && (e.$nodeName !== "DL" || c.$nodeValue.trim()))
          add(items, [text(c.$nodeValue, e)], false);
      } else if (c.$nodeType === 1) {
        if (c.$nodeName === "BR") { add(items, [], true); continue; }
        if (skipped.has(c.$nodeName)) continue;
        const style = getComputedStyle(c);
        const inline = /^(inline|contents|math)/.test(style.display);
        // A term and its definition are one text.
        const defines = c.$nodeName === "DD" && previous?.$nodeName === "DT";
        if (defines) items.apart = false;
        const gap = /^inline-/.test(style.display); // its text is no part of a word beside it
        if (gap) add(items, [text(" ", e)], false);
        add(items, veiled(c, style, visit(c, style, cursor)), !inline && !defines);
        if (gap) add(items, [text(" ", e)], false);
        if (defines) items.apart = true;
        previous = c;
      }
    }
    if (after) add(items, [text(after, e)], false);
    return items;
  }

  // numberOf is the number of an item in a list that does not simply count from one.
  const listNumbers = new Map();
  function numberOf(e) {
    const list = e.$parentElement;
    if (list?.$nodeName !== "OL") return undefined;
    let numbers = listNumbers.get(list);
    if (!numbers) {
      listNumbers.set(list, (numbers = new Map()));
      const items = [...list.$children].filter((c) => c.$nodeName === "LI"),
        down = list.$reversed;
      if (
        (down || list.$hasAttribute("start") || items.some((c) => c.$hasAttribute("value"))) &&
        /decimal/.test(getComputedStyle(list).listStyleType)
      ) {
        let n = list.$hasAttribute("start") ? list.$start : down ? items.length : 1;
        for (const c of items) {
          if (c.$hasAttribute("value")) n = c.$value;
          numbers.set(c, n);
          n += down ? -1 : 1;
        }
      }
    }
    return numbers.get(e);
  }

  // sight notes the elements of a role that is looked for, with their names, and whether no
  // user sees them; also what is clipped where that is wanted.
  const sighted = [];
  const wanted = look === "self" ? roleOf(root) : look;
  function sight(e, role, shown, seen = shown) {
    if (role !== wanted) return;
    const name = wholeName(e, role);
    sighted.push(number(shown, { role, name }), name, unseen(seen));
  }

  // custom reports whether an element may have a role that only the browser knows, see internals.
  const custom = (e) =>
    e.$localName.includes("-") &&
    customs.length < MAX_CUSTOMS &&
    !customs.includes(e) &&
    !memory.plain.has(e.$localName) &&
    !e.$hasAttribute("role") &&
    e.$matches(":defined");

  // acting finds what can be acted on in a drawing, which is one thing otherwise.
  const actors = "a, button, input, select, textarea, summary, [role], [tabindex], [onclick], [draggable=true]";
  const numbered = (it) => it.ref || it.kids.some(numbered);
  function acting(e, cursor) {
    const items = [];
    let last;
    for (const c of e.$querySelectorAll(actors)) {
      if (last?.$contains(c) || c.$closest("[aria-hidden=true]")) continue;
      last = c;
      items.push(...visit(c, getComputedStyle(c), cursor).filter(numbered));
    }
    return items;
  }

  // area is a part of an image, itself displayed nowhere.
  function area(e) {
    const image = e.$hasAttribute("href") && library.imageOf(e);
    if (!image || !isShown(image)) return [];
    const item = {
      role: "link",
      name: limit(nameOf(e, "link"), MAX_NAME),
      attributes: attributesOf(e, "link"),
      kids: [],
      owner: e,
    };
    item.ref = number(e, item);
    item.hints = hintsOf(e, item);
    if (look) sight(e, "link", e, image);
    return [item];
  }

  function visit(e, style, cursor, silenced) {
    if (e.$nodeName === "AREA") return area(e);
    visited++;
    if (aria(e, "hidden") === "true" && !silenced) {
      hidden.push(e);
      if (!full || decorative(e)) return [];
      const item = { role: "generic", name: "", attributes: ["aria-hidden"], kids: [], owner: e };
      begin(item, tidy(visit(e, style, cursor, true)));
      return item.text || item.kids.length ? [item] : [];
    }
    if (!displayed(e, style)) {
      hidden.push(e);
      return [];
    }
    if (custom(e)) customs.push(e);
    const seeable = style.visibility === "visible", shown = seeable && !collapsed(e, style);
    const pointer = style.cursor === "pointer" && cursor !== "pointer";
    if (!shown) {
      if (up(e) && isShown(up(e))) hidden.push(e);
      if (look && clipped && seeable) sight(e, roleOf(e), e);
      return childrenOf(e, style.cursor, true);
    }
    if (e.$nodeName === "LABEL" && e.$control) return label(e, style);
    if (e.$nodeName === "INPUT" && labelsOf(e).some((l) => isShown(l)) && !seen(e)) return []; // see label
    const role = roleOf(e);
    if (look) sight(e, role, e);
    const focusable = e.$tabIndex >= 0 && e !== document.$body && e !== document.$documentElement && role !== "iframe";
    const accepts =
      actionable.has(role) ||
      focusable ||
      e.$hasAttribute("onclick") ||
      (pointer && e.$nodeName !== "LABEL") ||
      movable(e, style, cursor) ||
      takesDrops(e);
    if (silent.has(role) && !accepts) {
      const raised = (role === "superscript" || e.$nodeName === "SUP") && /^\s*[-+−\d]/.test(e.$textContent);
      const mark = raised ? (s) => `^${s}` : marks[role];
      if (mark)
        return childrenOf(e, style.cursor).map((it) =>
          it.role === "text" && squash(it.text) ? text(mark(squash(it.text)), it.owner) : it,
        );
      const labelled = role === "group" || e.$hasAttribute("aria-label") || e.$hasAttribute("aria-labelledby");
      const name = labelled ? nameOf(e, role) : "",
        busy = aria(e, "busy") === "true";
      if (busy)
        return [
          finish({ role, name: limit(name, MAX_NAME), attributes: ["busy"], kids: [], owner: e }, e, style),
        ].flat();
      if (!name) return part(e, childrenOf(e, style.cursor));
      return [finish({ role, name: limit(name, MAX_NAME), attributes: [], kids: [], owner: e }, e, style)].flat();
    }
    const item = {
      role,
      name: limit(nameOf(e, role), MAX_NAME),
      attributes: attributesOf(e, role),
      kids: [],
      owner: e,
    };
    if (!accepts && landmarks && parted.has(role)) item.mark = number(e, item);
    if (!accepts) return finish(item, e, style);
    item.ref = number(e, item);
    const printed = finish(item, e, style);
    item.hints = hintsOf(e, item);
    if (!item.name && (controls.has(e.$nodeName) || !item.text && !item.kids.length)) {
      const hint = hintOf(e);
      if (hint) item.hint = hint;
    }
    return printed;
  }
  const controls = set("INPUT SELECT TEXTAREA");
  const parted = set("banner navigation contentinfo complementary"); // what the pages of a site share

  // veiled says of the items of a transparent element that nobody sees them, a toast that has
  // faded for example. A transparent control lies on what is drawn for it.
  function veiled(e, style, items) {
    if (style.opacity !== "0" || controls.has(e.$nodeName) || !(items = tidy(items)).length) return items;
    const mark = (it) => {
      if (it.attributes && (!it.inline || it.ref)) it.attributes.push("transparent");
      else if (it.inline) it.kids.push({ ...text(note("[transparent]")), joined: true });
      else it.text = `${it.text} ${note("[transparent]")}`;
    };
    if (items.every(leaf) || items.length === 1 && items[0].owner === e && items[0].role !== "text") {
      items.forEach(mark);
      return items;
    }
    const item = { role: "generic", name: "", attributes: ["transparent"], kids: [], owner: e };
    begin(item, items);
    return [item];
  }

  // movable reports whether a user sees that an element can be dragged.
  const grips = /^(grab|grabbing|move|all-scroll|(col|row|[nesw]{1,4})-resize)$/;
  const movable = (e, style, cursor) =>
    e.$getAttribute("draggable") === "true" || (grips.test(style.cursor) && style.cursor !== cursor);

  // takesDrops reports whether an element is likely to be where dragged ones are dropped:
  // it says so, or it is like one that has some now. Only the page knows for sure.
  const dropName = /drop-?_?(zone|target|area|pable)|(^|[-_ ])drop($|[-_ ])/i;
  const kind = (e) => e.$localName + "." + e.$getAttribute("class");
  let holders;
  function takesDrops(e) {
    if (
      e.$hasAttribute("ondrop") ||
      e.$hasAttribute("ondragover") ||
      dropName.test(e.$id) ||
      dropName.test(e.$getAttribute("class") ?? "")
    )
      return true;
    holders ??= new Set([...document.$querySelectorAll("[draggable=true]")].map((d) => kind(d.$parentElement ?? d)));
    return holders.has(kind(e)) && e !== document.$body;
  }

  // part keeps together what is in one of several containers of a kind, a card for example,
  // where each line is to say what it belongs to.
  function part(e, items) {
    if (!full || !alike(e, e.$previousElementSibling) && !alike(e, e.$nextElementSibling)) return items;
    const kids = tidy(items);
    return kids.length > 1 ? [{ role: "item", name: "", kids, inline: kids.every(leaf), owner: e }] : items;
  }
  const alike = (e, other) => other && kind(e) === kind(other);

  // marks are what a reader sees of some parts of a text: an old price is not part of the new one.
  const marks = { deletion: (s) => ` ~~${s}~~ `, insertion: (s) => ` ${s} `, term: (s) => `${s}: ` };

  // label: its text is the name of its control. Where the control itself is not
  // to be seen (a styled checkbox), the label stands for it.
  function label(e, style) {
    const control = e.$control;
    const role = roleOf(control), all = childrenOf(e, style.cursor);
    // A custom element without a line of its own has no other place for it.
    if (control.$localName.includes("-") && !actionable.has(role) && control.$tabIndex < 0) return all;
    // Links to what is agreed to, for example.
    const others = all.filter((it) => it.role !== "text");
    if (seen(control)) return others;
    if (look) sight(control, role, e);
    const item = {
      role,
      name: limit(nameOf(control, role), MAX_NAME),
      attributes: attributesOf(control, role),
      kids: [],
      owner: e,
      control,
    };
    item.ref = number(e, item);
    return [item, ...others.filter(numbered)];
  }
  const seen = (e) => isShown(e) && e.$checkVisibility({ opacityProperty: true }) && hasSize(e);

  function finish(item, e, style) {
    const { role } = item;
    if (role === "iframe") {
      item.frame = number(e, item);
      return [item];
    }
    const field = e.$nodeName === "INPUT" || e.$nodeName === "TEXTAREA";
    if (!field && (role === "textbox" || role === "searchbox")) { // an editor: its text is a document
      begin(item, tidy(childrenOf(e, "pointer")));
      return [item];
    }
    if (field || valued.has(role)) {
      item.text = limit(squash(valueOf(e, role)), MAX_TEXT);
      return [item];
    }
    if (e.$nodeName === "SELECT") {
      item.text = [...e.$selectedOptions].map((o) => squash(o.$label)).join(", ");
      const offered = [...e.$options].filter(
        (o) =>
          getComputedStyle(o).display !== "none" &&
          (o.$parentElement === e || getComputedStyle(o.$parentElement).display !== "none"),
      );
      const labels = offered
        .slice(0, 100)
        .map((o) => squash(o.$label) + (o.$matches(":disabled") ? " [disabled]" : ""))
        .join(" | ");
      if (offered.length > 1) item.kids = [{ role: "options", text: limit(labels, MAX_OPTIONS), kids: [] }];
      return [item];
    }
    if (e.$nodeName === "math") {
      item.text = limit(mathOf(e), MAX_TEXT);
      return item.name || item.ref ? [item] : [text(item.text, e)];
    }
    if (e.$nodeName === "svg" || role === "img" || role === "video" || role === "audio") {
      if (e.$nodeName === "svg") item.kids = acting(e, style.cursor);
      return item.name || item.ref ? [item] : item.kids;
    }
    let kids = tidy(childrenOf(e, item.ref ? "pointer" : style.cursor));
    if (role === "row") return row(item, kids);
    if (cells.has(role)) {
      Object.assign(item, placeOf(e));
      // A user acts on a cell of a grid, such as a double click to edit it. In a whole
      // snapshot these refs would be most of the text.
      if (full && role === "cell" && !item.ref && e.$closest(tables)?.$matches(editable) && !kids.some(numbered))
        item.cell = number(e, item);
    }
    if (item.name) {
      item.parts = kids.flatMap((k) => (k.role === "text" ? partsOf(k) : []));
      // A name that is not of the content may hold a part of it by chance.
      const words = namedByContent.has(role) ? (s) => s : (s) => ` ${s} `;
      kids = kids.filter(
        (k) =>
          !(k.role === "text" && words(item.name).includes(words(k.text.replace(/…$/, "")))) &&
          !(k.role === "img" && !k.ref && item.name.includes(k.name)),
      );
      if (kids.length === 1 && !item.ref && kids[0].name === item.name) item.name = "";
      if (kids.length === 1 && item.ref && !kids[0].ref && kids[0].name === item.name && !kids[0].kids.length)
        kids = [];
    }
    if (!item.ref && !item.name && !item.attributes.length) {
      if (!kids.length) return cells.has(role) ? [item] : [];
      if (role === "listitem" && kids.length === 1 && kids[0].role !== "text") return kids;
      if (role === "listitem" && kids.every(leaf)) {
        item.kids = kids;
        item.inline = true;
        return [item];
      }
    }
    // What has no size is not to be acted on: the ends of a focus trap, for example.
    if (item.ref && role === "generic" && !item.name && kids.length === 0 && !hasSize(e)) return [];
    begin(item, kids);
    return [item];
  }

  const hasSize = (e) => { const r = e.$getBoundingClientRect(); return r.width > 1 && r.height > 1; };

  // begin puts the text that an element begins with on the element's own line.
  function begin(item, kids) {
    if (kids[0]?.role === "text" && !kids.slice(1).some((k) => k.role === "text")) {
      item.parts ??= partsOf(kids[0]);
      item.text = kids.shift().text;
    }
    item.kids = kids;
  }

  // row takes its cells apart: what they hold stands in one line, an empty cell as nothing
  // between two bars, so that each is below the head of its column.
  const cells = set("cell columnheader rowheader");
  const editable = "[role=grid], [role=treegrid]", tables = editable + ", [role=table], table";
  function row(item, kids) {
    const parts = [];
    item.heads = kids.length > 0 && kids.every((k) => k.role === "columnheader");
    let column = kids.find((k) => cells.has(k.role))?.first;
    const gap = (count) => {
      for (let i = 0; i < count; i++) parts.push(text(spanning(item.owner, column + i)));
    };
    for (const k of kids) {
      if (!cells.has(k.role)) {
        parts.push(k);
        continue;
      }
      gap(k.column - column);
      column = k.column + k.span;
      const title =
        k.name &&
        k.text &&
        k.name === squash(k.owner.$getAttribute("title") ?? "") &&
        noteHint("title=" + quote(limit(k.name, MAX_HINT)));
      const words = (title ? [k.text, title] : [k.name, k.text]).filter(Boolean).join(" ");
      const inside = k.ref ? [k] : words || !k.kids.length ? [{ ...text(words), ref: k.cell }, ...k.kids] : [...k.kids];
      if (!k.ref) inside.push(...k.attributes.filter((a) => a !== "active").map((a) => text(note(`[${a}]`))));
      parts.push(inside[0], ...inside.slice(1).map((part) => ({ ...part, joined: true })));
      for (let more = Math.min(k.span - 1, MAX_GAP); more > 0; more--) parts.push(text(""));
    }
    for (; spanning(item.owner, column); column++) gap(1);
    while (
      parts.length &&
      parts[parts.length - 1].role === "text" &&
      !parts[parts.length - 1].text &&
      !parts[parts.length - 1].ref
    )
      parts.pop();
    item.name = "";
    item.kids = parts;
    item.inline = parts.every(leaf);
    return parts.length ? [item] : [];
  }

  // placeOf is the column of a cell, how many it spans, and the first column of its row
  // where that is known. A cell of an earlier row may hold a place in this one.
  const grids = new Map(), tableCells = new Map(), spans = new Map();
  const rows = "tr, [role=row]", parts = "td, th, [role=cell], [role=gridcell], [role=columnheader], [role=rowheader]";
  // spanning is the text of the cell of an earlier row that spans a row. A search shows it: a
  // row that it finds alone says what it belongs to.
  function spanning(row, column) {
    const cell = full && spans.get(row)?.[column], words = cell ? limit(squash(textOf(cell)), MAX_HINT) : "";
    return words && note(words);
  }
  // numberedIn are the places of the cells of a grid that numbers its columns, counted over those that are in the page.
  // A cell without a number follows the one before it. Undefined: it numbers none.
  function numberedIn(grid) {
    if (grids.has(grid)) return grids.get(grid);
    const places = grid.$querySelector("[aria-colindex]") ? new Map() : undefined;
    grids.set(grid, places);
    if (!places) return;
    const used = new Set();
    for (const r of grid.$querySelectorAll(rows)) {
      let next = Number(aria(r, "colindex")) || 1;
      for (const c of r.$querySelectorAll(parts)) {
        if (c.$closest(rows) !== r || c.$closest(tables) !== grid) continue;
        const column = Number(aria(c, "colindex")) || next;
        next = column + Math.min(Number(aria(c, "colspan")) || c.$colSpan || 1, 1000);
        places.set(c, [column, next]);
        for (let i = column; i < next; i++) used.add(i);
      }
    }
    const order = [...used].sort((a, b) => a - b), at = new Map(order.map((column, i) => [column, i]));
    for (const [c, [from, to]] of places) places.set(c, { column: at.get(from), span: to - from, first: 0 });
    return places;
  }
  function placeOf(e) {
    const table = e.$closest("table"), around = e.$closest(tables), places = around && numberedIn(around);
    if (places?.has(e)) return places.get(e);
    if (e.$colSpan === undefined || !table) return { span: Number(aria(e, "colspan")) || 1 };
    let grid = tableCells.get(table);
    if (!grid) {
      tableCells.set(table, (grid = new Map()));
      const until = [], from = []; // the row at which each column is free again, and the last cell there
      for (const r of table.$rows) {
        if (full) spans.set(r, from.map((c, i) => until[i] > r.$rowIndex && c));
        let column = 0;
        for (const c of r.$cells) {
          if (getComputedStyle(c).display === "none") continue;
          while (until[column] > r.$rowIndex) column++;
          grid.set(c, column);
          for (let i = 0; i < c.$colSpan; i++)
            (from[column] = c), (until[column++] = c.$rowSpan === 0 ? Infinity : r.$rowIndex + c.$rowSpan);
        }
      }
    }
    return { column: grid.get(e), span: e.$colSpan, first: 0 };
  }
  const leaf = (it) => !it.kids.length && !it.frame;

  const lines = [];
  const count = (items) => items.reduce((n, it) => n + 1 + count(it.kids), 0);
  let refs = 0;
  // note marks what is not of the page: a search leaves it out.
  const note = (s) => (full ? `\u0003${s}\u0003` : s);
  const noteAround = (before, s, after) => note(before) + s + note(after);
  const noteHint = (h) => noteAround("[" + h.slice(0, h.indexOf("=") + 1), h.slice(h.indexOf("=") + 1), "]");
  function head(it, ditto) {
    if (it.role === "text") return it.ref ? `${it.text} ${note(`[ref=e${it.ref}]`)}`.trim() : it.text;
    const parts = ditto && (it.name || it.ref) ? [] : [note(it.role)];
    if (it.name) parts.push(noteAround('"', quote(it.name).slice(1, -1), '"'));
    for (const a of it.attributes ?? []) parts.push(note(`[${a}]`));
    if (it.hint) parts.push(noteHint(it.hint));
    if (it.ref) { parts.push(note(`[ref=e${it.ref}]`)); refs++; }
    else if (it.mark) parts.push(`\u0006[ref=e${it.mark}]`);
    for (const h of it.hints ?? []) parts.push(noteHint(h));
    let s = parts.join(" ");
    if (it.text) s += note(": ") + it.text;
    return s;
  }
  // A list item or row whose parts are all leaves is one line, its role left out.
  // Where one has the same roles as the line above, those are left out too: they
  // are most of the text of a long list.
  let above = "";
  function printInline(it, level) {
    const roles = it.kids.map((k) => k.role).join(" "), ditto = !full && it.kids.length > 1 && roles === above;
    // The ref of one that accepts an action itself, and its state, are in front.
    const own = it.ref || it.attributes?.length ? head({ ...it, text: "" }) + note(": ") : "";
    const parts = it.kids.map((k, i) => {
      const s = head(k, ditto);
      return (i === 0 ? "" : k.joined ? " " : s ? " | " : " |") + s;
    });
    lines.push("  ".repeat(level) + "- " + own + parts.join("").trimStart() + (full && it.heads ? "\u0004" : ""));
    above = roles;
  }
  function printOne(it, level) {
    if (it.inline) return printInline(it, level);
    above = "";
    let s = "  ".repeat(level) + "- ";
    s += head(it);
    if (!it.text && (it.kids.length || it.frame)) s += note(":");
    lines.push(s + (full && it.heads ? "\u0004" : ""));
    if (it.frame) lines.push("  ".repeat(level + 1) + "\u0001" + it.frame);
  }
  function tree(items, level) {
    above = "";
    for (const it of items) {
      printOne(it, level);
      if (!it.kids.length || it.inline) continue;
      if (depth > 0 && level + 1 >= depth) lines.push("  ".repeat(level + 1) + `- … ${count(it.kids)} more below`);
      else tree(it.kids, level + 1);
    }
  }
  // contentOf is the text in an element without a name, apart from parts with a ref.
  const contentOf = (it) =>
    limit(
      it.kids
        .filter((k) => !k.ref)
        .map((k) => k.text ?? k.name ?? "")
        .filter(Boolean)
        .join(" "),
      80,
    );
  function list(items) {
    for (const it of items) {
      if (it.inline && !full) {
        const kids = it.ref ? it.kids : it.kids.filter((k) => k.ref);
        if (kids.length) printInline({ ...it, kids }, 0);
        continue;
      }
      if (it.ref)
        printOne(
          { ...it, text: it.text || it.name ? it.text : contentOf(it), kids: it.role === "combobox" ? it.kids : [] },
          0,
        );
      else if (it.frame) lines.push("\u0001" + it.frame);
      list(it.kids);
    }
  }
  // itemsOf are the items of an element.
  function itemsOf(e) {
    if (e === document.$documentElement) return tidy(childrenOf(e, ""));
    const style = getComputedStyle(e);
    return tidy(veiled(e, style, visit(e, style, e.$parentElement ? getComputedStyle(e.$parentElement).cursor : "")));
  }
  // lineOf is the line of an item to compare: without its indentation, and with all roles. A
  // dialog makes all that is behind it inert, which is no change of each element there. That
  // something large fades in is not noticed: its line would go on to say that it is transparent.
  const passing = set("active inert"),
    fades = (it, a) => a === "transparent" && it.kids.length > 0;
  const lasting = (it) => ({
    ...it,
    mark: undefined,
    attributes: it.attributes?.filter((a) => !passing.has(a) && !fades(it, a)),
  });
  function lineOf(it) {
    const ours = lasting(it);
    if (!it.inline) return "- " + head(ours) + (!it.text && (it.kids.length || it.frame) ? ":" : "");
    const own = it.ref || ours.attributes?.length ? head({ ...ours, text: "" }) + ": " : "";
    return (
      "- " +
      own +
      it.kids.map((k, i) => (i === 0 ? "" : k.joined ? " " : " | ") + head(lasting(k))).join("")
    ).trimEnd();
  }
  function print(items) {
    refs = 0;
    if (interactive) list(items);
    else tree(items, 0);
    return { text: lines.join("\n") + (lines.length ? "\n" : ""), refs };
  }
  return {
    itemsOf,
    lineOf,
    print,
    hidden,
    shadows,
    customs,
    sighted,
    fresh,
    wanted,
    cut: () => visited > most,
    visited: () => visited,
    last: () => last,
  };
}
