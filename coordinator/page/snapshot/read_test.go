package snapshot_test

import (
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><title>Notes</title>
<header>Site name</header><nav><a href=/x>Elsewhere</a></nav>
<main><h1>The <em>first</em> heading</h1>
<p>Some <b>bold</b>, some <i>italic</i> and <code>a_b*c</code>, a
<a href="/docs?a=1">link to <b>docs</b></a>.<br>Next line * with [marks].</p>
<div style="display:none">Hidden</div><div aria-hidden=true>Silent</div>
<ul><li>One<li>Two<ul><li>Deeper</ul><li><p>Three</p><p>and more</p></ul>
<ol start=3><li>c<li>d</ol>
<pre><code class="language-go">func main() {
	x := 1
}</code></pre>
<blockquote><p>Said</p><p>twice</p></blockquote>
<table><caption>Ages</caption><tr><th>Who<th>Age<tr><td>Ann | Bob<td>30</table>
<img src="/logo.png" alt="Logo"><hr>
<dl><dt>Term<dd>Meaning</dl>
<my-part><span slot=s>slotted</span></my-part>
<label><input type=checkbox checked> done</label>
<button>Press</button><script>1</script></main><footer>Imprint</footer>
<script>customElements.define('my-part', class extends HTMLElement { constructor() {
  super(); this.attachShadow({mode:'open'}).innerHTML = '<h3>In the shadow</h3><slot name=s></slot>' } })</script>`)
	read, err := p.Reader().Markdown(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := "# The *first* heading\n\nSome **bold**, some *italic* and `a_b*c`, a [link to **docs**](" +
		url + `/docs?a=1).  
Next line \* with \[marks\].

Silent

- One
- Two
  - Deeper
- Three

  and more

3. c
4. d

` + "```go\nfunc main() {\n\tx := 1\n}\n```" + `

> Said
>
> twice

Ages

| Who | Age |
| --- | --- |
| Ann \| Bob | 30 |

![Logo](` + url + `/logo.png)

---

**Term**
: Meaning

### In the shadow

slotted

[x] done`
	if read.Title != "Notes" || read.URL != url+"/" || read.Text != want {
		t.Errorf("%q at %s:\n%s\n\nwant:\n%s", read.Title, read.URL, read.Text, want)
	}
	if part, err := p.Reader().Markdown(t.Context(), "nav"); err != nil || part.Text != "[Elsewhere]("+url+"/x)" {
		t.Errorf("of a target: %q %v", part.Text, err)
	}
}

// Each cell is below the head of its column.
// A list has the numbers that the reader sees.
func TestMarkdownNumbers(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<main><ol start=4><li>a<li value=9>b<li>c</ol><p>and</p><ol reversed><li>x<li>y</ol></main>`)
	if read, err := p.Reader().Markdown(t.Context(), ""); err != nil ||
		!strings.Contains(read.Text, "4. a\n9. b\n10. c\n\nand\n\n2. x\n1. y") {
		t.Errorf("%q %v", read.Text, err)
	}
}

func TestMarkdownTable(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		`<table><thead><tr><th>Region<th>City<th>2025<th>2026</thead><tr><td rowspan=2>North<td>Kiel<td>1<td>2` +
			`<tr><td>Bremen<td>3<td>4<tr><td>South<td colspan=2>none<td>5</table>`: `| Region | City | 2025 | 2026 |
| --- | --- | --- | --- |
| North | Kiel | 1 | 2 |
|  | Bremen | 3 | 4 |
| South | none |  | 5 |`,
		`<table><tr><th><button>Name</button><th><button>Age</button>` +
			`<tr><td>Ann<td><button>30</button><button>Edit</button></table><button>Add</button>`: `| Name | Age |
| --- | --- |
| Ann | 30 Edit |`,
		`<table><tr><th>A<th style="display:none">-<th>B<th>C<tr><td>1<td style="display:none">-` +
			`<td style="visibility:hidden">2<td>3<tr style="display:none"><td>4</table>`: `| A | B | C |
| --- | --- | --- |
| 1 |  | 3 |`,
		`<table><tr><td><button>Go</button><p>Only laid out</p></table>`: `Only laid out`,
		`<p>Before</p><div role=table><div>Ages</div>
<div role=rowgroup><div role=row><span role=columnheader>Who</span><span role=columnheader>Age</span></div></div>
<div role=rowgroup><div role=row style="display:flex"><div role=cell>Ann | Bob</div>
<div role=cell><button>30</button></div></div><div role=row aria-hidden=true><div role=cell>-</div></div>
<div role=row><span role=cell aria-colspan=2>none</span></div></div><div>2 rows</div></div><p>After</p>`: `Before

Ages

| Who | Age |
| --- | --- |
| Ann \| Bob | 30 |
| none |  |

2 rows

After`,
		`<div role=grid><div role=row><div role=gridcell>One column</div></div>` +
			`<div role=row><div role=gridcell>only</div></div></div>`: "One column\n\nonly",
		`<div role=grid><div role=row><span role=columnheader aria-colindex=4>ID</span>` +
			`<span role=columnheader aria-colindex=5>Note</span><span role=columnheader aria-colindex=6>Stock</span></div>` +
			`<div role=row><span role=gridcell aria-colindex=4>7</span>` +
			`<span role=gridcell aria-colindex=6>55</span>` +
			`</div></div>`: "| ID | Note | Stock |\n| --- | --- | --- |\n| 7 |  | 55 |",
		`<form><label>Qty <input value=2></label>` +
			`<input value=30><select><option>S<option selected>M</select></form>`: "Qty 2 30 M",
		`<div role=grid>` +
			`<table role=presentation><tr><th>A<th>B<tr><td>1<td>2</table></div>`: "| A | B |\n| --- | --- |\n| 1 | 2 |",
		`<div role=table><div role=row><div role=cell>x</div>` +
			`<div role=cell><div role=table><div role=row><i role=cell>1</i><i role=cell>2</i></div></div></div>` +
			`</div></div>`: "x\n\n|  |  |\n| --- | --- |\n| 1 | 2 |",
	} {
		p, _ := pagetest.Open(t, "<!doctype html>"+html)
		if read, err := p.Reader().Markdown(t.Context(), ""); err != nil || read.Text != want {
			t.Errorf("%v\n%s\nwant:\n%s", err, read.Text, want)
		}
	}
}

// The only article is the page's content if it has the page's heading or most of its text.
func TestMarkdownArticle(t *testing.T) {
	t.Parallel()
	links := strings.Repeat("<p>Another story</p>", 20)
	for html, want := range map[string]string{
		`<div><h1>Kettle</h1><p>Price: € 40</p><button>Buy</button></div><h2>Reviews</h2>` +
			`<article><h3>Ada</h3><p>Great kettle.</p>` +
			`</article>`: "# Kettle\n\nPrice: € 40\n\n## Reviews\n\n### Ada\n\nGreat kettle.",
		`<header><h1>Daily</h1></header><article><h1>News</h1><p>Short.</p></article><div>` + links +
			`</div>`: "# News\n\nShort.",
		`<h1>Daily</h1><article><h2>News</h2><p>` + strings.Repeat("long ", 30) +
			`</p></article><p>Imprint</p>`: "## News\n\n" + strings.TrimSpace(strings.Repeat("long ", 30)),
	} {
		p, _ := pagetest.Open(t, "<!doctype html>"+html)
		if read, err := p.Reader().Markdown(t.Context(), ""); err != nil || read.Text != want {
			t.Errorf("%v\n%s\nwant:\n%s", err, read.Text, want)
		}
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div id=a class=x><p>hi</p></div><div id=host></div>
<script>a.dataset.late = 1; const s = host.attachShadow({mode:'closed'}); s.innerHTML = '<button>In</button>'</script>`)
	pagetest.Snapshot(t, p)
	for target, want := range map[string]string{
		"#a":    `<div id="a" class="x" data-late="1"><p>hi</p></div>`,
		"#host": `<div id="host"><template shadowrootmode="closed"><button>In</button></template></div>`,
	} {
		if got, err := p.Reader().HTML(t.Context(), target); err != nil || got != want {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
	if got, err := p.Reader().HTML(t.Context(), ""); err != nil || !strings.HasPrefix(got, "<html><head>") ||
		!strings.Contains(got, "<button>In</button>") {
		t.Errorf("the document: %q, %v", got, err)
	}
}

// A match comes with the heading above it, beside it or beside what it is in.
func TestFindShowsTheHeading(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><h1>Shop</h1><section><h2>Tea</h2><p>Price 5</p><ul><li>Box <b>small</b></ul>
</section><h2>Coffee</h2><nav aria-label=More><h3>Other</h3></nav><div><p>Price 6</p></div>`)
	for text, want := range map[string]string{
		"Price 5": "- heading \"Tea\" [level=2]\n- Price 5\n",
		"small":   "- heading \"Tea\" [level=2]\n- list:\n  - Box small\n",
		"Price 6": "- heading \"Coffee\" [level=2]\n- Price 6\n",
		"Coffee":  "- heading \"Coffee\" [level=2]\n",
	} {
		if found := find(t, p, text); found.Text != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, found.Text, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><main aria-label=All><ul><li><a href=#>Tea</a> <button>Buy tea</button>
<li><a href=#>Coffee</a> <button>Buy coffee</button></ul>
<p>`+strings.Repeat("long words ", 300)+`needle `+strings.Repeat("and more ", 300)+`</p>
<iframe srcdoc="<button>Framed coffee</button>" title=f></iframe></main>
<script>for (let i = 0; i < 60; i++)
  document.body.insertAdjacentHTML('beforeend', '<p>Row ' + i + '</p><hr>')</script>`)
	found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "COFFEE"})
	if err != nil || found.Matches != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	pagetest.Contains(t, found.Text, "- main \"All\":\n  - list:\n    - link \"Coffee\" [ref=",
		`button "Buy coffee" [ref=`, `  - iframe "f":`, `button "Framed coffee" [ref=`)
	if strings.Contains(found.Text, "Tea") {
		t.Errorf("what does not match is shown:\n%s", found.Text)
	}
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, found.Text, "Framed coffee"), input.ClickOptions{}))
	if found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Regexp: "n[e]{2}dle"}); err != nil ||
		found.Matches != 1 || !strings.Contains(found.Text, "long words needle and more") || len(found.Text) > 600 {
		t.Errorf("far down a long text: %v %+v", err, found)
	}
	if found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Regexp: "^Row \\d+$"}); err != nil ||
		found.Matches != 60 || strings.Count(found.Text, "Row") != snapshot.MaxFound {
		t.Errorf("many: %v %+v", err, found)
	}
	for _, bad := range []snapshot.FindOptions{{}, {Text: "a", Regexp: "b"}, {Regexp: "("}} {
		if _, err := p.Reader().Find(t.Context(), bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}

// A match comes with what it belongs to: the row with the heads of its columns, the card,
// the article; not with the others.
func TestFindShowsTheItem(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<table><tr><th>No<th>Name<th>Price<tr><td>1<td>Nut<td>€ 10<tr><td>2<td>Bolt<td>€ 90</table>
<div class=cards><div class=card><h3>Tea</h3><p>Green</p><button>Buy</button></div>
<div class=card><h3>Coffee</h3><p>Black</p><button>Buy</button><ul><li>Hot<li>Strong</ul></div></div>
<article aria-label="First"><p>Old news</p><a href=/1>Read</a></article>
<article aria-label="Second"><p>Good news</p><a href=/2>Read</a></article><p>Alone</p>`)
	for text, want := range map[string]string{
		"bolt":  "- table:\n  - No | Name | Price\n  - 2 | Bolt | € 90\n",
		"green": "- heading \"Tea\" [level=3] | Green | button \"Buy\" #\n",
		"coffee": "- item:\n  - heading \"Coffee\" [level=3]\n" +
			"  - Black\n  - button \"Buy\" #\n  - list:\n    - Hot\n    - Strong\n",
		"good":   "- article \"Second\": Good news\n  - link \"Read\" # [url=/2]\n",
		"alone":  "- Alone\n",
		"[ref=e": "", // a ref is not a text of the page
	} {
		found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: text})
		if got := regexp.MustCompile(`\[ref=e\d+\]`).ReplaceAllString(found.Text, "#"); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant:\n%s", text, err, got, want)
		}
	}
}

// A search is for the words of the page, not for those of snapshots.
func TestFindNoNotation(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><main><h2>Plans</h2><button aria-expanded=false>More</button>
<input type=checkbox checked aria-label=Mail><select aria-label=Size><option>Small<option>Large</select>
<a href=/tea>Tea</a><input aria-label=Code value=abc placeholder=none><button id=trash></button>
<ul><li><a href=/a>One</a> <button>Text me</button></ul></main>`)
	for text, want := range map[string]int{
		"button": 0, "collapsed": 0, "checked": 0, "textbox": 0, "level=2": 0, "options": 0, "main": 0, "ref=": 0, "url": 0,
		"text": 1, "abc": 1, "/tea": 1, "trash": 1, "small | large": 1, "plans": 1,
	} {
		if found := find(t, p, text); found.Matches != want {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// A row of a table comes with all rows of heads, and with what spans it.
func TestFindInTableWithSpans(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<table><thead><tr><th rowspan=2>Region<th colspan=2>Sales<th rowspan=2>Note<tr><th>Q1<th>Q2</thead>
<tr><td rowspan=3>North<td>10<td>11<td rowspan=2>good
<tr><td>20<td>21<tr><td>30<td>31<td>bad<tr><td>South<td>40<td>41<td>none</table>`)
	for text, want := range map[string]string{"21": "North | 20 | 21 | good", "31": "North | 30 | 31 | bad",
		"41": "South | 40 | 41 | none"} {
		want = "- table:\n  - Region | Sales | | Note\n  - Region | Q1 | Q2 | Note\n  - " + want + "\n"
		if found := find(t, p, text); found.Text != want || found.Matches != 1 {
			t.Errorf("%s: %s\nwant\n%s", text, found.Text, want)
		}
	}
}

// What is hidden from assistive technology alone is on the page.
func TestHiddenFromAssistiveTechnology(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.sr { position: absolute; width: 1px; height: 1px; overflow: hidden }</style>
<div aria-hidden=true>Silent <a href=/x>link</a></div><button>Save <kbd aria-hidden=true>Ctrl+S</kbd></button>
<p><span class=sr>€ 12.99</span><span aria-hidden=true>€ 12<sup>99</sup></span>
  <b aria-hidden=true>•</b> <i aria-hidden=true style="font-family: Material Symbols Outlined">home</i></p>
<div aria-hidden=true style="display:none">Nobody sees it</div>`)
	if text := pagetest.Snapshot(t, p); strings.Contains(text, "Silent") {
		t.Error(text)
	}
	pagetest.Contains(t, find(t, p, "silent").Text, "- generic [aria-hidden]: Silent\n")
	pagetest.Act(t, p, p.Input().Hover(pagetest.Ref(t, find(t, p, "link").Text, "link"), input.HoverOptions{}))
	pagetest.Contains(t, find(t, p, "ctrl").Text, `button "Save"`, "[aria-hidden]: Ctrl+S")
	if read := markdown(t, p); !strings.HasPrefix(read, "Silent [link](") || !strings.HasSuffix(read, "\n\n€ 12.99") {
		t.Error(read)
	}
	for _, text := range []string{"home", "Nobody", "aria-hidden"} {
		if found := find(t, p, text); found.Matches != 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func find(t *testing.T, p *page.Page, text string) snapshot.FindResult {
	t.Helper()
	found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func markdown(t *testing.T, p *page.Page) string {
	t.Helper()
	read, err := p.Reader().Markdown(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return read.Text
}
