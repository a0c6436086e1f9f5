package snapshot_test

import (
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// Whoever reads only the changes knows the new order: what has moved stands beside what has not,
// or after how many of them.
func TestOrderOfWhatHasMoved(t *testing.T) {
	t.Parallel()
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	for _, c := range []struct{ what, script, want string }{
		{"sort", "sort()", `  - main:
    - table:
      - Name | Age
+     - Dan | 19
+     - Bob | 25
      - Ann | 30
-     - Bob | 25
+     - Eve | 33
      - Cid | 41
-     - Dan | 19
-     - Eve | 33
`},
		{"drag up", "ul.prepend(ul.children[6])", `  - main:
    - list:
+     - Row 6 | button "Open 6" #
      … 6 as before
-     - Row 6 | button "Open 6" #
      … 5 as before
`},
		{"drag down", "ul.children[8].after(ul.children[1])", `  - main:
    - list:
      - Row 0 | button "Open 0" #
-     - Row 1 | button "Open 1" #
      … 6 as before
      - Row 8 | button "Open 8" #
+     - Row 1 | button "Open 1" #
      … 3 as before
`},
		{"to the end", "ul.append(ul.children[1])", `  - main:
    - list:
      - Row 0 | button "Open 0" #
-     - Row 1 | button "Open 1" #
      … 9 as before
      - Row 11 | button "Open 11" #
+     - Row 1 | button "Open 1" #
`},
		{"other container", "two.children[0].after(ul.children[3])", `  - main:
    - list:
-     - Row 3 | button "Open 3" #
    - list:
      - One
+     - Row 3 | button "Open 3" #
      - Two
`},
		{"append", "ul.insertAdjacentHTML('beforeend', '<li>New')", `  - main:
    - list:
      … 12 as before
+     - New
`},
		{"insert", "ul.children[4].insertAdjacentHTML('beforebegin', '<li>New')", `  - main:
    - list:
      … 4 as before
+     - New
`},
		{"rank", "rank()", `  - main:
    - table:
-     - 1 | A
+     - 1 | C
      - 2 | B
-     - 3 | C
+     - 3 | A
`},
		{"cards", "cards.append(cards.children[1])", `  - main:
    … 5 as before
-   - article "B":
-     - heading "Bb" [level=3]
-     - button "Open" #
    - article "C":
    - article "D":
+   - article "B":
+     - heading "Bb" [level=3]
+     - button "Open" #
`},
	} {
		p, _ := pagetest.Open(t, orderPage)
		pagetest.Snapshot(t, p)
		pagetest.Evaluate(t, p, "void ("+c.script+")")
		got := refs.ReplaceAllString(p.Look(t.Context()).Text, " #")
		if got != c.want {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}

const orderPage = `<!doctype html>
<main><table><thead><tr><th>Name<th>Age<tbody id=body></table><ul id=ul></ul><ol id=two><li>One<li>Two</ol>
<table><tbody id=ranks><tr><td>1<td>A<tr><td>2<td>B<tr><td>3<td>C</table>
<div id=cards><article aria-label=A><h3>Aa</h3><button>Open</button></article>
<article aria-label=B><h3>Bb</h3><button>Open</button></article><article aria-label=C><h3>Cc</h3>
<button>Open</button></article><article aria-label=D><h3>Dd</h3><button>Open</button></article></div></main><script>
for (const [n, a] of [['Ann', 30], ['Bob', 25], ['Cid', 41], ['Dan', 19], ['Eve', 33]])
  body.insertAdjacentHTML('beforeend', '<tr><td>' + n + '<td>' + a)
for (let i = 0; i < 12; i++) ul.insertAdjacentHTML('beforeend', '<li>Row ' + i + ' <button>Open ' + i + '</button>')
const sort = () => body.append(...[...body.rows].sort((a, b) => a.cells[1].textContent - b.cells[1].textContent))
const rank = () => { const [a, b, c] = [...ranks.rows].map((r) => r.cells[1]);
  [a.textContent, c.textContent] = ['C', 'A'] }
</script>`

// A grid that numbers its columns has only some of them in the page: each cell stands below the head of its
// own column, also where others of the row are missing or have no number.
func TestNumberedColumns(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div role=grid aria-label=Far>
<div role=row><span role=columnheader aria-colindex=1>Name</span><span role=columnheader aria-colindex=40>City</span>
<span role=columnheader aria-colindex=41>Zip</span></div>
<div role=row><span role=gridcell aria-colindex=1>Ann</span><span role=gridcell aria-colindex=41>10115</span></div>
<div role=row><span role=gridcell aria-colindex=40>Bonn</span><span role=gridcell>53111</span></div>
<div role=row aria-colindex=41><span role=gridcell>20095</span></div></div>
<table aria-label=Mixed><tr><th>A<th>B<th>C<tr><td>1<td aria-colindex=3>3<tr><td aria-colindex=2>two<td>three</table>
<div role=grid aria-label=Spans><div role=row><span role=columnheader aria-colindex=3>X</span>
<span role=columnheader aria-colindex=4>Y</span><span role=columnheader aria-colindex=5>Z</span></div>
<div role=row><span role=gridcell aria-colindex=3 aria-colspan=2>both</span><span role=gridcell aria-colindex=5>last</span>
</div></div>`)
	found := func(text string) string {
		result, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return result.Text
	}
	for text, want := range map[string]string{
		"10115": "| 10115", "53111": "Bonn | 53111", "20095": "| | 20095", "three": "| two | three", "last": "both | | last",
	} {
		pagetest.Contains(t, strings.ReplaceAll(regexp.MustCompile(` ?\[ref=e\d+\]`).ReplaceAllString(found(text), ""),
			"  ", " "), want)
	}
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(pagetest.Snapshot(t, p), "")
	pagetest.Contains(t, text, `Ann | | 10115`, `- | Bonn | 53111`, `- | | 20095`, "- 1 | | 3\n", "- | two | three\n",
		"- both | | last\n")
	pagetest.Contains(t, markdown(t, p), "| Ann |  | 10115 |", "|  | Bonn | 53111 |")
}
