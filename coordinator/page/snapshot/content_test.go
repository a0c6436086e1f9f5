package snapshot_test

import (
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

func TestSnapshotShowsWhatMatters(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><title>All</title>
<h2>Sub "quoted"</h2><p>First paragraph.</p><p>Second one.</p>
<div aria-hidden=true>unseen</div>
<div style="display:none">gone</div><div style="visibility:hidden">hid<button>also hid</button></div>
<details><summary>More</summary><p>folded</p></details>
<input type=checkbox aria-label=Tick checked>
<input type=radio aria-label=Pick><span role=switch aria-checked=mixed tabindex=0>Half</span>
<label class=fancy><input type=checkbox id=hid style="opacity:0;width:0;height:0" checked>Styled</label>
<button aria-expanded=false aria-label=Menu></button><button aria-pressed=true>Bold</button>
<input aria-label=Mail value="a@b.c" required aria-invalid=true><textarea aria-label=Note readonly>long
text</textarea>
<input type=range aria-label=Volume value=30><progress aria-label=Done value=3 max=10></progress>
<a href="/to"><img alt="" src="data:,"> <span>Link <b>text</b></span></a>
<img alt=Logo src="data:,"><svg role=img aria-label=Icon></svg>
<div style="cursor:pointer"><span>Card</span> title</div>
<span id=lab>By id</span><button aria-labelledby=lab></button>
<div contenteditable aria-label=Editor>draft</div>
<table><caption>Ages</caption><thead><tr><th>Who<th>Age</thead><tr><td>Ann<td>30</table>
<dialog open aria-label=Ask><button>Yes</button></dialog>
<ul role=listbox aria-label=Fruit><li role=option aria-selected=true tabindex=-1>Apple<li role=option>Pear</ul>
<h3><a href="/h">Head link</a></h3>`)
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "All" || s.URL != url+"/" || s.Refs != strings.Count(s.Text, "[ref=") {
		t.Errorf("title %q, url %q, %d refs", s.Title, s.URL, s.Refs)
	}
	text := s.Text
	pagetest.Contains(t, text,
		`- heading "Sub \"quoted\"" [level=2]`, "- First paragraph.\n", "- Second one.\n",
		`- summary "More" [collapsed]`, `checkbox "Tick" [checked]`, `radio "Pick" [ref`, `switch "Half" [checked=mixed]`,
		`checkbox "Styled" [checked] [ref`, `button "Menu" [collapsed]`, `button "Bold" [pressed]`,
		`textbox "Mail" [required] [invalid]`, `: a@b.c`, `textbox "Note" [readonly]`, `: long text`,
		`slider "Volume"`, `: 30`, `progressbar "Done": 3`, `link "Link text" [ref=e11] [url=/to]`, `img "Logo"`,
		`img "Icon"`,
		`generic [ref`, `: Card title`, `button "By id"`, `textbox "Editor"`, `: draft`,
		`table "Ages"`, "- Who | Age\n", "- Ann | 30\n", `dialog "Ask"`, `option "Apple" [selected]`,
		`heading [level=3]`, `link "Head link"`)
	for _, unwanted := range []string{"unseen", "gone", "hid\n", "also hid", "folded"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is shown:\n%s", unwanted, text)
		}
	}
	// The label represents its hidden checkbox, and a click on it works.
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, `"Styled"`), input.ClickOptions{}))
	pagetest.Expect(t, p, "hid.checked", "false")
	for _, test := range []struct {
		name     string
		opts     snapshot.Options
		has, not string
	}{
		{"interactive", snapshot.Options{Interactive: true}, `- button "Yes"`, "First paragraph"},
		{"depth", snapshot.Options{Depth: 1}, "more below", "Yes"},
		{"selector", snapshot.Options{Target: "table"}, "Ann | 30", "First paragraph"},
		{"ref", snapshot.Options{Target: pagetest.Ref(t, text, `"Bold"`)}, `button "Bold"`, "Menu"},
	} {
		s, err := p.Reader().Snapshot(t.Context(), test.opts)
		if err != nil || !strings.Contains(s.Text, test.has) || strings.Contains(s.Text, test.not) {
			t.Errorf("%s: wants %q and not %q: %v\n%s", test.name, test.has, test.not, err, s.Text)
		}
	}
}

// Playwright and the browser's own tree agree on these results.
func TestSnapshotOfOddParts(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div id=host></div><script>host.attachShadow({mode:"open"}).innerHTML="<summary>lone</summary>"</script>
<input list=l value=Tea aria-label=Drink>
<datalist id=l><option>Tea</datalist><input role=combobox aria-label=City value=Oslo>
<textarea role=combobox aria-label=Search>cats</textarea><input type=text role=spinbutton aria-label=Seats value=4>
<div role=text><a href=#>Terms</a></div>
<span role=text>costs 3</span><div role="card button">Fallback</div><nav role=custom><a href=#>Home</a></nav>
<section aria-label="Seats 12">1</section>
<form><input name=placeholder aria-label=field></form><p>Daten&shy;schutz</p>`)
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(pagetest.Snapshot(t, p), "")
	for _, want := range []string{
		`combobox "Drink": Tea`, `combobox "City": Oslo`, `combobox "Search": cats`, `spinbutton "Seats": 4`,
		`link "Terms"`, "- costs 3\n", `button "Fallback"`, "- navigation:\n", `region "Seats 12": 1`, `textbox "field"`,
		"Datenschutz",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// Each cell is below the head of its column, also where cells are empty, span others or
// hold several things.
func TestSnapshotKeepsColumns(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><table>
<tr><th>No<th>Name<th>Shipped<th>Price<th style="display:none">Id<th>Due
<tr><td>1001<td>Nut<td>2 Jan<td>€ 10<td style="display:none">7<td>3 Jan
<tr><td>1002<td>Bolt<td><td>€ 90<td style="display:none">8<td>12 Jan
<tr><td rowspan=2>1003<td>Pin<td><td>€ 5<td style="display:none">9<td>
<tr><td colspan=2>Washer<td>€ 6<td style="display:none">9<td>4 Jan
<tr><td><td><a href="/cog">Cog</a> <button>Edit</button>
<td><img alt=""><td>€ 7<td style="display:none">9<td>5 Jan</table>
<div role=grid aria-label=Stock aria-rowcount=5000><div role=row><span role=columnheader>A</span>
<span role=columnheader>B</span><span role=columnheader>C</span></div>
<div role=row><span role=gridcell>a1</span>
<span role=gridcell style="display:inline-block;width:60px;height:20px"></span><span role=gridcell>c1</span></div>
<div role=row><span role=gridcell aria-colindex=1>a2</span><span role=gridcell aria-colindex=3>c2</span></div></div>`)
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(pagetest.Snapshot(t, p), "")
	pagetest.Contains(t, text, `- table:
  - No | Name | Shipped | Price | Due
  - 1001 | Nut | 2 Jan | € 10 | 3 Jan
  - 1002 | Bolt | | € 90 | 12 Jan
  - 1003 | Pin | | € 5
  - | Washer | | € 6 | 4 Jan
  - | link "Cog" [url=/cog] button "Edit" | | € 7 | 5 Jan
- grid "Stock" [rowcount=5000]:
  - A | B | C
  - a1 | | c1
  - a2 | | c2
`)
	found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "bolt"})
	if err != nil || !strings.Contains(found.Text, "- 1002 | Bolt | | € 90 | 12 Jan\n") {
		t.Errorf("%v\n%s", err, found.Text)
	}
	found, err = p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "a1"})
	cell := regexp.MustCompile(`- a1 \[ref=e\d+\] \| \[ref=(e\d+)\] \| c1 \[ref=e\d+\]\n`).FindStringSubmatch(found.Text)
	if err != nil || cell == nil {
		t.Fatalf("the cells of a grid have no refs: %v\n%s", err, found.Text)
	}
	pagetest.Act(t, p, p.Input().Click(cell[1], input.ClickOptions{}))
}

// The text of an editor is a document: it keeps its structure, and what can be acted on in
// it. A change in it is that of a paragraph.
func TestSnapshotKeepsRichText(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<div contenteditable role=textbox aria-label=Letter aria-multiline=true><h2>Dear Ada</h2>
<p>We <b>have</b> your <i>order</i>.<br>It is on its way.</p>
<ul><li>Tea<li>Cups, <a href="/blue">blue</a></ul><p><br></p><blockquote><p>Quoted `+
		strings.Repeat("long ", 300)+`</p></blockquote><table><tr><td>1<td>Nut</table><p hidden>Draft</p>
<div contenteditable=false><button>Remove</button></div></div>
<div contenteditable>One line</div><div contenteditable aria-label=Empty><p><br></p></div>
<textarea aria-label=Plain># Title
Text</textarea><div role=slider aria-valuenow=3 tabindex=0 aria-label=Size><p>not its value</p></div>`)
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(pagetest.Snapshot(t, p), " #")
	pagetest.Contains(t, text, `- textbox "Letter" #:
  - heading "Dear Ada" [level=2]
  - We have your order.
  - It is on its way.
  - list:
    - Tea
    - Cups, | link "blue" # [url=/blue]
  - Quoted long long`, "…\n  - table:\n    - 1 | Nut\n  - button \"Remove\" #\n", `- textbox #: One line
- textbox "Empty" #
- textbox "Plain" #: # Title Text
- slider "Size" #: 3
`)
	if len(text) > 1500 || strings.Contains(text, "Draft") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	pagetest.Act(t, p, p.Input().Click(`heading "Dear Ada"`, input.ClickOptions{}))
	p.Look(t.Context())
	pagetest.Act(t, p, p.Input().PressKey("End"))
	pagetest.Act(t, p, p.Input().PressKey("!"))
	changes := p.Look(t.Context())
	want := "  - textbox \"Letter\" #:\n-   - heading \"Dear Ada\" [level=2]\n+   - heading \"Dear Ada!\" [level=2]\n"
	if got := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(changes.Text, " #"); got != want {
		t.Errorf("typing: %s", got)
	}
}

// What a reader needs to tell things apart: old prices, terms, addresses, hints of fields,
// what opens a menu, and containers that are empty.
func TestSnapshotTellsApart(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p>Tea <del>€ 100</del><ins>€ 80</ins></p><p><s>€ 9</s>€ 7</p>
<a href="/tea?q=1#top">Tea <del>€ 100</del> <b>€ 80</b></a> <a href="#part">Part</a>
<a href="#">Nowhere</a> <a href="https://other.example/very/`+strings.Repeat("long/", 30)+`">Away</a>
<dl><dt>Weight</dt> <dd>3 kg</dd><dt>Colour<dd>red<dd>blue<div><dt>Size<dd><a href="/size">42</a></div></dl>
<label>Mail <input placeholder="you@example.com"></label>
<label>Name <input placeholder=Ann value=Bea></label><input placeholder="Search ] [ref=e9">
<button aria-haspopup=true>More</button><button title="Close the window">x</button><button title=Same>Same</button>
<article aria-label="Order 7">Paid</article>
<section aria-label=Basket></section><div aria-label="Drop files here"></div>
<ul class=lane><li draggable=true>Task</ul>
<ul class=lane></ul><div class="file-dropzone">Put it here</div><div class=dropdown>Not here</div>
<div style="cursor:grab">Grip</div>`)
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(pagetest.Snapshot(t, p), " #")
	pagetest.Contains(t, text, "- Tea ~~€ 100~~ € 80\n", "- ~~€ 9~~ € 7\n",
		`- link "Tea € 100 € 80" # [url=/tea?q=1#top]: Tea ~~€ 100~~ € 80`+"\n", `- link "Part" # [url=#part]`,
		`- link "Nowhere" #`+"\n", `- link "Away" # [url=other.example/very/long/`,
		"- Weight: 3 kg\n", "- Colour: red\n- blue\n", "- Size:\n", `- link "42" # [url=/size]`,
		`- textbox "Mail" # [placeholder="you@example.com"]`, `- textbox "Name" #: Bea`, `- textbox "Search ] [ref=e9" #`+
			"\n",
		`- button "More" [haspopup=menu] #`, `- button "x" # [title="Close the window"]`, `- button "Same" #`+"\n",
		`- article "Order 7": Paid`, `- region "Basket"`, `- generic "Drop files here"`,
		"- list #:\n  - listitem #: Task\n- list [class=lane] #\n", "- generic #: Put it here\n", "- Not here\n",
		"- generic #: Grip\n")
}

// Fields of dates and times have the names of their types, and controls are disabled with what
// they are in.
// The states of rows and cells, and what is above what, are shown without a ref too.
func TestStatesOfRows(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><table role=grid aria-label=A><tr aria-selected=true id=r><td>Ann<td>5</tr>
<tr aria-disabled=true><td>Cid<td aria-invalid=true>7</tr></table>
<table role=treegrid aria-label=B><tr aria-level=1 aria-expanded=true><td>docs<td>-</tr>
<tr aria-level=2><td>a.txt<td>3</tr></table>
<table role=grid aria-label=C>
<tr><td role=gridcell>1<td role=gridcell aria-disabled=true>2<td role=gridcell aria-selected=true>3</table>
<ul role=tree><li role=treeitem aria-expanded=true tabindex=0><span>src</span>
<ul role=group><li role=treeitem>a.ts</li></ul></li></ul>
<div role=tree><div role=treeitem aria-level=1 tabindex=0>lib</div><div role=treeitem aria-level=2>b.ts</div></div>
<progress aria-label=Unknown></progress><progress aria-label=Upload value=30 max=120></progress>
<select aria-label=Class><option>Economy<option disabled>First</select>`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), "- row [selected]: Ann | 5\n", "- row [disabled]: Cid | 7 [invalid]\n",
		"- row [expanded] [level=1]: docs | -\n", "- row [level=2]: a.txt | 3\n",
		"- 1 | 2 [disabled] | 3 [selected]\n", `treeitem "src" [expanded]`, `treeitem "b.ts" [level=2]`,
		`progressbar "Unknown"`+"\n", `progressbar "Upload": 30 of 120`, "Economy | First [disabled]")
	pagetest.Evaluate(t, p, "r.removeAttribute('aria-selected')")
	pagetest.Contains(t, pagetest.Snapshot(t, p), "- Ann | 5\n")
}

// Behind the dialog that was opened last, nothing can be used.
func TestDialogOnADialog(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<dialog id=d aria-label=First><button>OK</button></dialog><dialog id=e aria-label=Second><button>Keep</button></dialog>
<script>e.showModal(); e.close(); d.showModal(); e.showModal()</script>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `button "OK" [inert]`, `button "Keep" [`)
	if strings.Contains(text, `"Keep" [inert]`) {
		t.Error(text)
	}
}

func TestTimesAndDisabled(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><input type=date aria-label=D><input type=time aria-label=T>
<input type=week aria-label=W value=2026-W03><input type=month aria-label=M><input type=datetime-local aria-label=L>
<div role=group id=g aria-disabled=true>`+strings.Repeat("<h2>Filler</h2>", 60)+
		`<button>Off</button><b role=button tabindex=0>Custom</b><button aria-disabled=false>On</button></div>
<table><tr><td aria-disabled=true><a href=#x>Cell</a></table>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `date "D"`, `time "T"`, `week "W" [ref=`, `month "M"`, `datetime-local "L"`,
		`button "Off" [disabled]`, `button "Custom" [disabled]`, `button "On" [ref`, `link "Cell" [disabled]`)
	pagetest.Act(t, p, p.Input().Type(`datetime-local "L"`, "2026-11-21T10:00", input.TypeOptions{}))
	p.Look(t.Context())
	pagetest.Evaluate(t, p, "void g.removeAttribute('aria-disabled')")
	pagetest.Contains(t, p.Look(t.Context()).Text, `- button "Off" [disabled]`, `+ - button "Off" [ref`,
		`+ - button "Custom" [ref`)
}

func TestFormulas(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p>Half is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>
of <math><semantics><mrow><msqrt><mi>x</mi></msqrt><mo>=</mo><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow>
<msup><mn>10</mn><mn>6</mn></msup></mfrac></mrow><annotation>tex</annotation></semantics></math></p>
<button>Add <math><mfrac><mn>3</mn><mn>4</mn></mfrac></math></button>
<math display=block><msub><mi>y</mi><mn>0</mn></msub></math>`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), "- Half is 1/2 of √(x)=(a+1)/(10^6)\n", `button "Add 3/4"`, "- y_0\n")
	pagetest.Contains(t, markdown(t, p), "Half is 1/2 of √(x)=(a+1)/(10^6)\n", "\n\ny\\_0")
}

// How a table is sorted is in its head. The title of a cell is not its text.
func TestSortedColumns(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><table><tr><th aria-sort=ascending>Name<th aria-sort=none><button>Age</button>
<th aria-sort=descending><button>City</button><th aria-sort=ascending tabindex=0>Zip
<tr><td title="Ann the first">Ann…<td title=Thirty>Thirty
<td style="opacity:0">Kiel<td title="Post code">24103</table>`)
	text := pagetest.Snapshot(t, p)
	refs := regexp.MustCompile(` \[ref=e\d+\]`)
	pagetest.Contains(t, refs.ReplaceAllString(text, ""),
		`- Name [sort=ascending] | button "Age" | button "City" [sort=descending] | columnheader [sort=ascending]: Zip`,
		`- Ann the first | Thirty | Kiel [transparent] | 24103 [title="Post code"]`)
	pagetest.Evaluate(t, p, `document.querySelectorAll("th").forEach((th, i) =>
  th.ariaSort = i == 1 ? "ascending" : "none"), document.title = "Sorted by age"`)
	changes := p.Look(t.Context())
	pagetest.Contains(t, refs.ReplaceAllString(changes.Text, ""),
		`+   - Name | button "Age" [sort=ascending] | button "City" | columnheader: Zip`)
	if changes.Title != "Sorted by age" {
		t.Errorf("%+v", changes)
	}
	pagetest.Evaluate(t, p, `document.title = "Only the title"`)
	if changes := p.Look(t.Context()); changes.Title != "Only the title" || changes.Text != "" {
		t.Errorf("%+v", changes)
	}
	if changes := p.Look(t.Context()); changes.Title != "" {
		t.Errorf("%+v", changes)
	}
}

// A field with a value that its form is not sent with says so at once, an empty one when the
// browser has told the user.
func TestInvalidFields(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><form><input type=number aria-label=Count max=10>
<input type=date aria-label=Day max=2026-01-31><input type=email aria-label=Mail>
<input required aria-label=Who><input type=checkbox required aria-label=Agree></form>
<form novalidate><input type=number aria-label=Free max=10></form>`)
	pagetest.Snapshot(t, p)
	for selector, c := range map[string]struct{ value, want string }{
		"[aria-label=Count]": {"15",
			`+ - spinbutton "Count" [invalid] [ref=e1] [message="Value must be less than or equal to 10."]: 15`},
		"[aria-label=Day]":  {"2026-03-01", `+ - date "Day" [invalid] [ref=e2] [message=`},
		"[aria-label=Mail]": {"nobody", `+ - textbox "Mail" [invalid] [ref=e3] [message=`},
		"[aria-label=Free]": {"15", `+ - spinbutton "Free" [ref=e6]: 15`},
	} {
		pagetest.Act(t, p, p.Input().Type(selector, c.value, input.TypeOptions{}))
		pagetest.Contains(t, p.Look(t.Context()).Text, c.want)
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), `textbox "Who" [required] [ref=e4]`,
		`checkbox "Agree" [required] [ref=e5]`)
}

// What is transparent says so, and keeps its form: a toast in a list, a row whose buttons show
// when the mouse is on it.
func TestTransparent(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><ol><li style="opacity:0">Saved</ol>
<table><tr><td>Ann<td>ann@x.de<td><div style="opacity:0"><button>Edit</button></div></table>
<div style="opacity:0">Gone</div>
<div id=app style="opacity:0"><h2>App</h2><ul id=l>`+strings.Repeat("<li>Row", 50)+`</ul></div>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, "- Saved [transparent]\n", `- Ann | ann@x.de | button "Edit" [transparent] [ref=`,
		"- Gone [transparent]\n", "- generic [transparent]:\n")
	pagetest.Evaluate(t, p, `app.style.opacity = 1, l.insertAdjacentHTML("beforeend", "<li>New")`)
	if output := p.Look(t.Context()).Text; !strings.Contains(output, "+     - New") ||
		strings.Contains(output, "transparent") {
		t.Errorf("a row in what has faded in: %s", output)
	}
}
