package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/audit"
	"browser-coordinator/internal/pagetest"
)

// TestShadowedAudit: a page whose forms have fields, whose document has images, and whose elements have
// ids with the names of all properties of the DOM is audited as one with harmless names.
func TestShadowedAudit(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<!doctype html>")
	names := pagetest.Shadowable(t, p)
	harmless := make([]string, len(names))
	for i := range names {
		harmless[i] = fmt.Sprintf("field-%d", i)
	}
	audited := func(names []string) []string {
		var fields, others strings.Builder
		for _, name := range names {
			fmt.Fprintf(&fields, "<input type=hidden name='%s'>", name)
			fmt.Fprintf(&others, "<img alt='' hidden name='%s'><i hidden id='%[1]s'></i>", name)
		}
		p, _ := pagetest.Open(t, `<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>
<form class=order style="background:#fff" onsubmit="return false">`+fields.String()+`<button></button>
<p style="color:#aaa">Pale</p><input><ul><p>no item</p></ul><h5>Deep</h5><img src="data:," id=bare>
<div role=listbox></div><div aria-hidden=true><a href=#x>hidden link</a></div></form>
</main>`+others.String()+`<p>outside of all regions</p>`)
		r, err := p.Auditor().Audit(t.Context(), "")
		if err != nil {
			t.Error(err)
		}
		part, err := p.Auditor().Audit(t.Context(), "form")
		if err != nil {
			t.Error(err)
		}
		var list []string
		for i, findings := range [][]audit.Finding{r.Findings, part.Findings} {
			for _, f := range findings {
				list = append(list, fmt.Sprint(i, f))
			}
		}
		slices.Sort(list)
		return list
	}
	want, got := audited(harmless), audited(names)
	if len(want) < 14 {
		t.Errorf("only %d findings: %v", len(want), want)
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("from finding %d on the audit finds\n%q\nand with harmless names\n%q", i, got[i:], want[i:])
		}
	}
}
