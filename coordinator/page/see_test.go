package page

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

func TestSnapshotShowsWhatMatters(t *testing.T) {
	p, url := open(t, `<!doctype html><title>All</title>
<h2>Sub "quoted"</h2><p>First paragraph.</p><p>Second one.</p>
<div aria-hidden=true>unseen</div><div style="display:none">gone</div><div style="visibility:hidden">hid<button>also hid</button></div>
<details><summary>More</summary><p>folded</p></details>
<input type=checkbox aria-label=Tick checked><input type=radio aria-label=Pick><span role=switch aria-checked=mixed tabindex=0>Half</span>
<label class=fancy><input type=checkbox id=hid style="opacity:0;width:0;height:0" checked>Styled</label>
<button aria-expanded=false aria-label=Menu></button><button aria-pressed=true>Bold</button>
<input aria-label=Mail value="a@b.c" required aria-invalid=true><textarea aria-label=Note readonly>long
text</textarea>
<input type=range aria-label=Volume value=30><progress aria-label=Done value=3 max=10></progress>
<a href="/to"><img alt="" src="data:,"> <span>Link <b>text</b></span></a><img alt=Logo src="data:,"><svg role=img aria-label=Icon></svg>
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
	contains(t, text,
		`- heading "Sub \"quoted\"" [level=2]`, "- First paragraph.\n", "- Second one.\n",
		`- summary "More" [collapsed]`, `checkbox "Tick" [checked]`, `radio "Pick" [ref`, `switch "Half" [checked=mixed]`,
		`checkbox "Styled" [checked] [ref`, `button "Menu" [collapsed]`, `button "Bold" [pressed]`,
		`textbox "Mail" [required] [invalid]`, `: a@b.c`, `textbox "Note" [readonly]`, `: long text`,
		`slider "Volume"`, `: 30`, `progressbar "Done": 3`, `link "Link text" [ref`, `img "Logo"`, `img "Icon"`,
		`generic [ref`, `: Card title`, `button "By id"`, `textbox "Editor"`, `: draft`,
		`table "Ages"`, "- Who | Age\n", "- Ann | 30\n", `dialog "Ask"`, `option "Apple" [selected]`,
		`heading [level=3]`, `link "Head link"`)
	for _, unwanted := range []string{"unseen", "gone", "hid\n", "also hid", "folded", "url="} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is shown:\n%s", unwanted, text)
		}
	}
	// The label represents its hidden checkbox, and a click on it works.
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, `"Styled"`), input.ClickOptions{})); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "hid.checked"); got != "false" {
		t.Errorf("the styled checkbox is %s", got)
	}
	for _, test := range []struct {
		name     string
		opts     snapshot.Options
		has, not string
	}{
		{"interactive", snapshot.Options{Interactive: true}, `- button "Yes"`, "First paragraph"},
		{"urls", snapshot.Options{URLs: true}, "[url=" + url + "/to]", "unseen"},
		{"depth", snapshot.Options{Depth: 1}, "more below", "Yes"},
		{"selector", snapshot.Options{Target: "table"}, "Ann | 30", "First paragraph"},
		{"ref", snapshot.Options{Target: ref(t, text, `"Bold"`)}, `button "Bold"`, "Menu"},
	} {
		s, err := p.Reader().Snapshot(t.Context(), test.opts)
		if err != nil || !strings.Contains(s.Text, test.has) || strings.Contains(s.Text, test.not) {
			t.Errorf("%s: wants %q and not %q: %v\n%s", test.name, test.has, test.not, err, s.Text)
		}
	}
}

// Playwright and the browser's own tree agree on these results.
func TestSnapshotOfOddParts(t *testing.T) {
	p, _ := open(t, `<!doctype html><div id=host></div><script>host.attachShadow({mode:"open"}).innerHTML="<summary>lone</summary>"</script>
<input list=l value=Tea aria-label=Drink><datalist id=l><option>Tea</datalist><input role=combobox aria-label=City value=Oslo><textarea role=combobox aria-label=Search>cats</textarea><input type=text role=spinbutton aria-label=Seats value=4>
<div role=text><a href=#>Terms</a></div><span role=text>costs 3</span><div role="card button">Fallback</div><nav role=custom><a href=#>Home</a></nav>
<section aria-label="Seats 12">1</section><form><input name=placeholder aria-label=field></form><p>Daten&shy;schutz</p>`)
	text := regexp.MustCompile(` \[ref=e\d+\]`).ReplaceAllString(outline(t, p), "")
	for _, want := range []string{
		`combobox "Drink": Tea`, `combobox "City": Oslo`, `combobox "Search": cats`, `spinbutton "Seats": 4`,
		`link "Terms"`, "- costs 3\n", `button "Fallback"`, "- navigation:\n", `region "Seats 12": 1`, `textbox "field"`, "Datenschutz",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestLargePage(t *testing.T) {
	p, _ := open(t, `<!doctype html><ul id=l></ul><script>let h='';for(let i=0;i<6000;i++)h+='<li><a href="/'+i+'">Item '+i+'</a> <button>Add '+i+'</button></li>';l.innerHTML=h</script>`)
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil || s.Refs != 12000 {
		t.Fatalf("%d refs, %v", s.Refs, err)
	}
	if per := len(s.Text) / 6000; per > 70 {
		t.Errorf("%d characters for an item of two controls", per)
	}
	contains(t, s.Text, `- "Item 5999" [ref=e11999] | "Add 5999" [ref=e12000]`)
	if _, err := p.Act(t.Context(), p.Input().Click("e12000", input.ClickOptions{})); err != nil {
		t.Error(err)
	}
}

func TestEvaluate(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-x'")
		fmt.Fprint(w, `<!doctype html><title>Tight</title><button id=b>Öl "x"</button><script nonce=x>own = 7; Array.prototype.map = null; Element.prototype.querySelector = null</script>`)
	}))
	for _, test := range []struct{ script, target, want string }{
		{"() => document.title", "", `"Tight"`},
		{"async () => { await 0; return [1, {a: null}] }", "", `[1,{"a":null}]`},
		{"function() { return own }", "", "7"},
		{"function f() { return own + 1 };", "", "8"},
		{"x => typeof x", "", `"undefined"`},
		{"own * 2", "", "14"},
		{"({a: 1})", "", `{"a":1}`},
		{"[1,2].filter(x => x > 1)", "", "[2]"},
		{"await Promise.resolve(3)", "", "3"},
		{"Promise.resolve(4)", "", "4"},
		{"() => undefined", "", "null"},
		{"() => NaN", "", `"NaN"`},
		{"() => 10n", "", `"10n"`},
		{"() => { let a = 1; return a } // comment", "", "1"},
		{"(element) => element.textContent", "#b", `"Öl \"x\""`},
		{"element => element.id", "#b", `"b"`},
		{"element.id", "#b", `"b"`},
		{"async function(e) { return e === document.getElementById('b') }", "#b", "true"},
		{"() => '\\u0001\\ud83c\\udf89<'", "", `"\u0001🎉<"`},
		{"eval('1+1')", "", "2"},
	} {
		got, _, err := p.Evaluate(t.Context(), test.script, test.target)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s %v, want %s", test.script, got, err, test.want)
		}
	}
	var script *ScriptError
	for _, bad := range []string{"() => nothing.here", "() => { throw 'text' }", "async () => { throw new Error('later') }", "((", "Promise.reject(new RangeError('far'))"} {
		if _, _, err := p.Evaluate(t.Context(), bad, ""); !errors.As(err, &script) {
			t.Errorf("%s: %v", bad, err)
		} else {
			t.Log(err)
		}
	}
	// None of this prevents snapshots and clicks.
	text := outline(t, p)
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, "Öl"), input.ClickOptions{})); err != nil {
		t.Error(err)
	}
}

func TestTwoTabs(t *testing.T) {
	b := connect(t)
	one, two := newPage(t, b), newPage(t, b)
	for i, p := range []*Page{one, two} {
		if _, err := p.Navigate(t.Context(), fmt.Sprintf("data:text/html,<title>T%d</title><button onclick='n=%d'>B%d</button><input>", i, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := b.Pages(t.Context())
	if err != nil || len(pages) < 2 {
		t.Fatalf("pages: %+v %v", pages, err)
	}
	if again, err := b.Page(t.Context(), one.ID()); err != nil || again != one {
		t.Errorf("the same page is attached to twice: %v", err)
	}
	// Both work at the same time, whichever is in front.
	for range 5 {
		done := make(chan error, 2)
		for _, p := range []*Page{one, two} {
			go func() {
				_, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{}))
				if err == nil {
					_, err = p.Act(t.Context(), p.Input().Type("input", p.ID(), input.TypeOptions{}))
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	for i, p := range []*Page{one, two} {
		if got := eval(t, p, "n + document.querySelector('input').value"); got != fmt.Sprintf(`"%d%s"`, i, p.ID()) {
			t.Errorf("tab %d: %s", i, got)
		}
	}
	if err := b.Activate(t.Context(), two.ID()); err != nil {
		t.Fatal(err)
	}
	if current, err := connect(t).Current(t.Context()); err != nil || current.ID() == "" {
		t.Errorf("the current page: %v", err)
	}
	if _, err := b.Page(t.Context(), "0123"); err == nil {
		t.Error("an unknown page is no error")
	}
}

// Documents without an element: at their start, and after a script has removed all
// elements.
func TestSnapshotOfNothing(t *testing.T) {
	begun := make(chan struct{})
	release := make(chan struct{})
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/slow" {
			w.(http.Flusher).Flush()
			close(begun)
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, "<p>there")
	}))
	eval(t, p, "document.open(), 1")
	if got := outline(t, p); got != "" {
		t.Errorf("an empty document shows %q", got)
	}
	go func() { _, _ = p.Navigate(t.Context(), url+"/slow") }()
	<-begun
	if err := p.await(t.Context(), func() bool { return p.commits > 1 && !p.parsed }); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
		shown <- fmt.Sprint(s.Text, err)
	}()
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	if got := <-shown; !strings.Contains(got, "there") {
		t.Errorf("a document that has just begun: %s", got)
	}
}
