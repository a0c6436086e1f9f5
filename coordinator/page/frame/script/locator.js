function (written) {
  // A locator of Playwright's as a selector by text, role or label, or as CSS, whether names
  // are exact, and the pattern of a name; null: it has something that is not known here.
  let exact = false, pattern;
  const regular = (source, flags) => new RegExp(source, flags.replace(/[gy]/g, ""));
  const found = (selector) => selector && { selector, exact, pattern };
  const search =
    /^text=\/((?:[^/\\]|\\.)+)\/([a-z]*)$/.exec(written) ??
    /^(?:page\.)?getByText\(\s*\/((?:[^/\\]|\\.)+)\/([a-z]*)\s*\)$/.exec(written);
  try {
    if (search) pattern = regular(search[1], search[2]);
    return found(
      search ? "text=" : /^(?:page\.)?(?:getBy|locator\()/.test(written) ? inOurWords(written) : byEngine(written),
    );
  } catch {
    return null; // no regular expression
  }

  function attribute(of, what) {
    return `[${of}${exact ? "=" : "*="}${JSON.stringify(what)}${exact ? "" : " i"}]`;
  }

  // byEngine takes the prefixes of Playwright (css=, id=, data-testid=, placeholder=, …) and of
  // Puppeteer (aria/, text/, xpath/, pierce/).
  function byEngine(s) {
    const [, engine, what] =
      /^(css|id|data-test(?:-?id)?|placeholder|title|alt)=(.*)$/s.exec(s) ??
      /^(aria|text|xpath|pierce)\/(.*)$/s.exec(s) ??
      [];
    const [, quoted] = /^"(.*)"$/s.exec(what) ?? [];
    if (quoted !== undefined) exact = true;
    switch (engine) {
    case undefined: return s;
    case "css": case "pierce": return what;
    case "text": case "xpath": return `${engine}=${what}`;
    case "aria": {
      exact = true;
      const [, name, role] = /^(.*?)\[role=["']?([a-z]+)["']?\]$/s.exec(what) ?? [];
      return role ? `role=${role}` + (name && `[name="${name}"]`) : "name=" + what;
    }
    case "placeholder": case "title": case "alt": return attribute(engine, quoted ?? what);
    }
    return `[${engine}=${JSON.stringify(quoted ?? what)}]`;
  }

  function inOurWords(s) {
    const [, how, , what, rest = ""] =
      /^(?:page\.)?(?:getBy(?=Role|Text|Label|Placeholder|TestId|Title|AltText))?(Role|Text|Label|Placeholder|TestId|Title|AltText|locator)\((["'`])((?:(?!\2).)*)\2\s*(?:,\s*\{(.*)\})?\s*\)$/s.exec(
        s,
      ) ?? [];
    const option =
      /\s*(?:(?<name>name)\s*:\s*(?:(["'`])(?<text>(?:(?!\2).)*)\2|\/(?<source>(?:[^/\\]|\\.)+)\/(?<flags>[a-z]*))|exact\s*:\s*(?<exact>true|false))\s*(?:,|$)/sy;
    let name;
    for (let at = 0; rest.slice(at).trim(); at = option.lastIndex) {
      option.lastIndex = at;
      const given = option.exec(rest)?.groups;
      if (!given || (given.name && how !== "Role")) return null;
      if (given.exact) exact = given.exact === "true";
      if (given.text !== undefined) name = given.text;
      if (given.source) pattern = regular(given.source, given.flags);
    }
    switch (how) {
    case "Role": return `role=${what}` + (name === undefined ? "" : `[name="${name}"]`);
    case "Text": return exact ? `text="${what}"` : "text=" + what;
    case "Label": return "label=" + what;
    case "TestId": return `[data-testid=${JSON.stringify(what)}]`;
    case "Placeholder": return attribute("placeholder", what);
    case "Title": return attribute("title", what);
    case "AltText": return attribute("alt", what);
    case "locator": return rest ? null : what;
    }
    return null;
  }
}
