package audit_test

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/pagetest"
)

// TestHostilePages: whatever a page has patched, an audit finds what is there; one of a page that never ends for
// it is stopped, and the page can be used afterwards.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	const button = "document.body.innerHTML = '<main><h1>Shop</h1><button id=empty></button></main>';"
	for name, c := range map[string]struct {
		script string
		stops  bool
	}{
		"patched prototypes": {button + `
			for (const type of [Node, Element, Document, HTMLElement, Array, Object, String, Promise, Map, Set, Function, RegExp])
				for (const key of Object.getOwnPropertyNames(type.prototype))
					try { Object.defineProperty(type.prototype, key, {configurable: true, get() { throw new Error("patched") }}) }
					catch {}; 0`, false},
		"patched globals": {button + `window.axe = {run: () => ({violations: [], incomplete: []})};
			JSON.stringify = () => "{}"; window.getComputedStyle = () => ({}); 0`, false},
		"endless getters": {button + `for (const key of ["id", "className", "title", "attributes"])
			Object.defineProperty(document.querySelector("#empty"), key, {get() { for (;;); }}); 0`, false},
		"100,000 nodes":         {button + `document.body.insertAdjacentHTML("beforeend", "<p>x</p>".repeat(100000)); 0`, true},
		"a class of a megabyte": {button + `document.querySelector("#empty").className = "x".repeat(1e6); 0`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pagetest.NewPage(t, pagetest.ConnectWith(t, &page.Options{CallTimeout: 3 * time.Second}))
			pagetest.Evaluate(t, p, c.script)
			began := time.Now()
			r, err := p.Auditor().Audit(t.Context(), "")
			switch {
			case err != nil && !(c.stops && strings.Contains(err.Error(), "stopped")):
				t.Errorf("after %v: %v", time.Since(began), err)
			case err == nil:
				found := false
				for _, f := range r.Findings {
					found = found || f.Rule == "button-name"
					if n := len(f.Element) + len(f.Selector); n > 2000 {
						t.Errorf("a finding has %d characters", n)
					}
				}
				if !found {
					t.Errorf("the button is missing among %d findings", len(r.Findings))
				}
			}
			pagetest.Expect(t, p, "1 + 1", "2")
		})
	}
}
