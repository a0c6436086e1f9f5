package snapshot_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// A policy that forbids eval, inline scripts and everything else, and patched prototypes:
// every way to read the page still works.
func TestStrictPage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; "+
			"script-src 'nonce-x'; require-trusted-types-for 'script'; sandbox allow-scripts")
		fmt.Fprint(w, `<!doctype html>
<title>Strict</title><main><h1>Closed</h1><button id=b>Open</button></main><script nonce=x>
console.warn('strict');
JSON.stringify = Array.prototype.map = Element.prototype.getBoundingClientRect = WeakMap.prototype.get = null;
document.querySelector = () => null; performance.getEntriesByType = null; Element.prototype.attachShadow = null;
try { eval('1') } catch { document.title = 'no eval' }</script>`)
	}))
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `heading "Closed"`, `button "Open"`)
	pagetest.Expect(t, p, "document.title", `"no eval"`)
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Open"), input.ClickOptions{}))
	if read, err := p.Reader().Markdown(t.Context(), ""); err != nil || read.Text != "# Closed" {
		t.Errorf("%q %v", read.Text, err)
	}
	if html, err := p.Reader().HTML(t.Context(), "#b"); err != nil || html != `<button id="b">Open</button>` {
		t.Errorf("%q %v", html, err)
	}
	if found, err := p.Reader().Find(t.Context(), snapshot.FindOptions{Text: "closed"}); err != nil || found.Matches != 1 {
		t.Errorf("%+v %v", found, err)
	}
	if messages := p.History().Console.Messages("warning"); len(messages) == 0 || messages[0].Text != "strict" {
		t.Errorf("%+v", messages)
	}
	// A later connection can attach too.
	q := pagetest.Attach(t, p)
	pagetest.Contains(t, pagetest.Snapshot(t, q), `button "Open"`)
}

// A list that loads more when its end is visible: the next snapshot shows the new items,
// and earlier refs stay valid.
func TestInfiniteScroll(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>li{height:60px}</style>
<ul id=l></ul><div id=end>Loading…</div><script>
let n = 0;
const more = () => {
  for (let i = 0; i < 20; i++) l.insertAdjacentHTML('beforeend', '<li><button>Item ' + n++ + '</button> text</li>') };
more();
new IntersectionObserver((e) => { if (e[0].isIntersecting && n < 100) setTimeout(more, 20) }).observe(end);</script>`)
	text := pagetest.Snapshot(t, p)
	first, last := pagetest.Ref(t, text, "Item 0"), pagetest.Ref(t, text, "Item 19")
	if strings.Contains(text, "Item 20") {
		t.Fatalf("it loads by itself:\n%s", text)
	}
	pagetest.Act(t, p, p.Input().Hover("#end", input.HoverOptions{}))
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Item 39"})
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true})
	if err != nil || !s.Diff || !strings.Contains(s.Text, `"Item 39"`) || strings.Contains(s.Text, `"Item 1"`) {
		t.Errorf("%v\n%s", err, s.Text)
	}
	second := pagetest.Snapshot(t, p)
	if pagetest.Ref(t, second, "Item 0") != first || pagetest.Ref(t, second, "Item 19") != last {
		t.Error("refs changed")
	}
	pagetest.Act(t, p, p.Input().Click(first, input.ClickOptions{}))
}

// A canvas has no child elements. It has a ref if it accepts an action, and its
// screenshot shows what is drawn.
func TestCanvas(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<canvas id=c width=200 height=100 tabindex=0 aria-label="Chart of sales"></canvas><canvas width=10 height=10></canvas>
<script>
const g = c.getContext('2d'); g.fillStyle = 'rgb(10,200,30)';
g.fillRect(0, 0, 200, 100); c.onclick = (e) => document.title = e.offsetX + ',' + e.offsetY</script>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `canvas "Chart of sales" [ref=`)
	target := pagetest.Ref(t, text, "Chart of sales")
	img, err := p.Screen().Screenshot(t.Context(), capture.Options{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := pagetest.Decode(t, img).At(100, 50).RGBA(); r>>8 != 10 || g>>8 != 200 || b>>8 != 30 {
		t.Errorf("its middle is %d,%d,%d", r>>8, g>>8, b>>8)
	}
	pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
	pagetest.Expect(t, p, "document.title", `"100,50"`)
}

// Elements that accept an action have a ref, also inside a drawing, an image or an editor.
// The action hits them at their place.
func TestRefsOfParts(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body{margin:0}</style>
<svg width=300 height=60>
<g role=button tabindex=0 aria-label="Zoom in" onclick="did('zoom')"><rect width=50 height=50 /></g>
<a href="#chart"><rect x=60 width=50 height=50 /><text x=60 y=20>Chart</text></a>
<g><path role=img aria-label="a bar of the chart" d="M0 0h3v3z"/>
<rect x=120 width=50 height=50 onclick="did('bar')"><title>June</title></rect></g>
<circle cx=200 cy=25 r=20 onclick="did('circle')"/><g aria-hidden=true><a href="#hidden">hidden</a></g></svg>
<svg width=20 height=20><title>Just a picture</title><path d="M0 0h9v9z"/></svg>
<button onclick="did('save')"><svg width=20 height=20><path d="M0 0h9v9z"/></svg> Save</button><br>
<img usemap="#map" width=200 height=100
  src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='200' height='100'/>"><map name=map>
<area shape=rect coords="0,0,50,50" href="#area" alt="Kitchen">
<area shape=circle coords="150,50,30" onclick="did('hall')" href="#h" alt="Hall"></map>
<canvas id=c width=100 height=50 onclick="did('canvas')"></canvas>
<div draggable=true style="width:50px;height:20px"></div>
<div contenteditable>Some <b>bold</b> text
  <a href="#in">a link</a> and <button contenteditable=false onclick="did('in')">Press</button></div>
<details><summary>More</summary>hidden</details><script>done=[]; did = (s) => done.push(s)</script>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `button "Zoom in" [ref=`, `link "Chart" [ref=`, `generic "June" [ref=`,
		`img "Just a picture"`, `link "Kitchen" [ref=`, `link "Hall" [ref=`,
		"canvas [id=c] [ref=", "generic [ref=", `link "a link" [ref=`, `button "Press" [ref=`,
		`summary "More" [collapsed] [ref=`)
	for _, absent := range []string{"a bar of", "hidden"} {
		if strings.Contains(text, absent) {
			t.Errorf("%q is in:\n%s", absent, text)
		}
	}
	for _, name := range []string{`"Zoom in"`, `"June"`, `"Hall"`, "canvas", `"Press"`, `"Save"`, `"Chart"`, `"Kitchen"`} {
		pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, name), input.ClickOptions{}))
	}
	pagetest.Expect(t, p, "done.join()", `"zoom,bar,hall,canvas,in,save"`)
	pagetest.Expect(t, p, "location.hash", `"#area"`)
}

// Elements without role, name and text still accept actions, and their line describes
// them. Elements that no user can hit, like the ends of a focus trap, are omitted.
func TestNamelessElements(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><title>Icons</title>
<style>i, .box { display: inline-block; width: 16px; height: 16px } .hand { cursor: pointer }</style>
<div class="box trash" onclick="document.title = 'deleted'"></div>
<i class="fa fa-pen hand"></i><span class=box tabindex=0 id=knob></span>
<button class="btn btn-sm"><svg class="lucide lucide-x" width=10 height=10></svg></button>
<button><svg width=10 height=10><use href="#gear"/></svg></button>
<input name=q><select name=size><option>S<option>M</select>
<div tabindex=0></div><span tabindex=0 style="opacity:0"></span><button class=named>Named</button>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text,
		`- generic [class=box trash] [ref=`, `- generic [class=fa fa-pen hand] [ref=`, `- generic [id=knob] [ref=`,
		`- button [class=lucide lucide-x] [ref=`,
		`- button [icon=#gear] [ref=`, `- textbox [name=q] [ref=`, `- combobox [name=size] [ref=`, `- button "Named" [ref=`)
	if n := strings.Count(text, "[ref="); n != 8 {
		t.Errorf("%d refs:\n%s", n, text)
	}
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "trash"), input.ClickOptions{}))
	pagetest.Expect(t, p, "document.title", `"deleted"`)
}

// A clickable row has a ref of its own, before those of its cells.
func TestRowsThatCanBeClicked(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><title>Rows</title>
<table><tr onclick="document.title = this.rowIndex"><td>One<td><input type=checkbox aria-label=first></tr>
<tr style="cursor:pointer" onclick="document.title = this.rowIndex"><td>Two<td>2</table>`)
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `- row [ref=`, `]: One | checkbox "first" [ref=`, `]: Two | 2`)
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text[strings.LastIndex(text, "row"):], "row"),
		input.ClickOptions{}))
	pagetest.Expect(t, p, "document.title", `"1"`)
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Contains(t, s.Text, `]: Two | 2`)
}

// A label represents a hidden control, once, and links in the label are listed.
func TestLabelsOfUnseenControls(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>.off{position:absolute;opacity:0}.gone{display:none}.tiny{position:absolute;width:1px;height:1px}</style>
<label for=a>I accept the <a href="#terms">terms</a></label><input id=a type=checkbox class=off>
<label><input type=radio name=r class=gone>Red</label><label><input type=radio name=r class=tiny>Blue</label>
<label>Plain <input type=checkbox></label><input type=checkbox class=off aria-label=Alone>`)
	text := pagetest.Snapshot(t, p)
	for _, name := range []string{`checkbox "I accept the terms"`, `link "terms"`, `radio "Red"`, `radio "Blue"`,
		`checkbox "Plain"`, `checkbox "Alone"`} {
		if strings.Count(text, name+" [ref=") != 1 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	for _, name := range []string{`"I accept`, `"Blue"`} {
		pagetest.Act(t, p, p.Input().FillForm([]input.Field{{Target: pagetest.Ref(t, text, name), Type: "checkbox",
			Value: "true"}}))
	}
	pagetest.Contains(t, pagetest.Snapshot(t, p), `"I accept the terms" [checked]`, `"Blue" [checked]`)
}

// An inert part is marked as such. A clickable card in a list has a line with its content.
func TestInertAndCards(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div inert><button id=i>Inert</button></div>
<div style="cursor:pointer"><span>Card</span><div>$5</div><button>Buy</button></div>`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), `button "Inert" [inert] [ref=`)
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Contains(t, s.Text, "]: Card $5\n")
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#i", input.ClickOptions{Timeout: 200 * time.Millisecond}),
		"it is inert")
	pagetest.Evaluate(t, p, `document.body.insertAdjacentHTML("beforeend", "<dialog><button>Yes</button></dialog>"),
  document.querySelector("dialog").showModal()`)
	pagetest.Contains(t, pagetest.Snapshot(t, p), `button "Buy" [inert] [ref=`, `button "Yes" [active] [ref=`)
	pagetest.Evaluate(t, p, `document.querySelector("dialog").close()`)
	if s, err = p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true}); err != nil ||
		strings.Contains(s.Text, "Inert") || !strings.Contains(s.Text, `- - dialog`) {
		t.Errorf("after the dialog: %v\n%s", err, s.Text)
	}
}
