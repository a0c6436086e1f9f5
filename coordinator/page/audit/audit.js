async function (target) {
  // Runs axe-core, which this world has, on an element or the document of one frame. memory keeps
  // the elements that it finds.
  // Each frame is audited by itself. Rules about a whole page are for the page.
  const off = ["frame-tested"];
  if (window.parent !== window)
    off.push("bypass", "document-title", "html-has-lang", "landmark-one-main", "page-has-heading-one", "region");
  const found = await axe.run(target ?? document.$documentElement, {
    rules: Object.fromEntries(off.map((id) => [id, { enabled: false }])),
    iframes: false, elementRef: true, resultTypes: ["violations"], performanceTimer: false,
  });
  const limit = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);
  const line = (s, n) => limit(String(s ?? "").replace(/\s+/g, " ").trim(), n);
  memory.audited = [];
  const rules = found.violations.map((rule) => ({
    id: rule.id, impact: rule.impact, help: rule.help, url: rule.helpUrl,
    nodes: rule.nodes.map((node) => {
      const checks = (list) => list.map((check) => line(check.message, 500));
      memory.audited.push(node.element);
      return {
        selector: line(node.target.flat().join(" >>> "), 300),
        any: checks(node.any),
        all: [...checks(node.all), ...checks(node.none)],
        index: memory.audited.length - 1,
      };
    }),
  }));
  return JSON.stringify({ rules, unsure: found.incomplete.reduce((sum, rule) => sum + rule.nodes.length, 0) });
}
