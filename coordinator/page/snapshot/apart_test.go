package snapshot_test

import (
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// A line break and an inline block end a word: in names, in texts, and in what finds them.
func TestWordsThatStandApart(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<table><tr><th>A<th>B<tr><td>1<br>47<td>x</table><button>Line one<br>Line two</button>
<p>Price<span style="display:inline-block">9.50</span> each</p><h2>Up<br>down</h2>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, "- 1 47 | x\n", `button "Line one Line two"`, "- Price 9.50 each\n", `heading "Up down"`)
	for _, target := range []string{"text=Line one Line two", `button "Line one Line two"`, "text=Price 9.50", "text=1 47",
		`cell "1 47"`} {
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
	}
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Price 9.50 each"})
	if found, err := p.Reader().FindByRole(t.Context(), "cell", "1 47"); err != nil || len(found) != 1 {
		t.Errorf("the cell: %v, %v", found, err)
	}
}
