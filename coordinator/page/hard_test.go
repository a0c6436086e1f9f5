package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
)

// Overlays that appear and disappear, that appear with the mouse, that let events through,
// and sticky headers over scrolled targets.
func TestOverlays(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>body{margin:0}.cover{position:fixed;inset:0;background:#0003}#ghost{pointer-events:none}
header{position:sticky;top:0;height:60px;background:#eee}#box{height:200px;overflow:auto}</style>
<header>Header</header><button id=plain onclick="hits.push('plain')">Plain</button><button id=wary onclick="hits.push('wary')">Wary</button>
<div id=box><div style="height:900px"></div><button id=deep onclick="hits.push('deep')">Deep</button></div>
<div style="height:2000px"></div><button id=low onclick="hits.push('low')">Low</button><div style="height:2000px"></div>
<script>hits=[];
function cover(id, ms) { const d=document.createElement('div'); d.className='cover'; d.id=id; d.onclick=d.onmousedown=e=>hits.push('cover'); document.body.append(d); if (ms) setTimeout(()=>d.remove(),ms); return d }
wary.onmouseenter=()=>{ const ms=wary.dataset.cover; delete wary.dataset.cover; if (ms) cover('sudden', +ms) }</script>`)
	click := func(target string) error {
		_, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{}))
		return err
	}
	hits := func(want string) {
		t.Helper()
		if got := eval(t, p, "hits.splice(0).join()"); got != `"`+want+`"` {
			t.Errorf("hit %s, want %s", got, want)
		}
	}
	eval(t, p, "cover('passing', 400), 1")
	if err := click("#plain"); err != nil {
		t.Errorf("under an overlay that goes: %v", err)
	}
	hits("plain")
	eval(t, p, "cover('ghost'), 1")
	if err := click("#plain"); err != nil {
		t.Errorf("under an overlay that lets events through: %v", err)
	}
	hits("plain")
	eval(t, p, "wary.dataset.cover = 300, 1")
	if err := click("#wary"); err != nil {
		t.Errorf("an overlay that comes with the mouse and goes: %v", err)
	}
	hits("wary")
	// The error names an overlay that appears with the mouse and stays; the overlay gets no click.
	eval(t, p, "wary.dataset.cover = 60000, 1")
	if _, err := p.Act(t.Context(), p.Input().MouseMove(500, 500)); err != nil {
		t.Fatal(err)
	}
	var unready *input.NotReadyError
	if err := click("#wary"); !errors.As(err, &unready) || !strings.Contains(err.Error(), `covered by <div id="sudden"`) {
		t.Errorf("an overlay that comes with the mouse and stays: %v", err)
	}
	eval(t, p, "document.querySelector('#sudden')?.remove()")
	hits("")
	for _, target := range []string{"#deep", "#low", "#plain"} {
		if err := click(target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	hits("deep,low,plain")
}

func TestAnimations(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>@keyframes spin{from{transform:translateX(0)}to{transform:translateX(200px)}}
#ever{animation:spin 1s linear infinite}#late{opacity:0;transition:transform .4s}#late.in{opacity:1;transform:translateX(300px)}</style>
<button id=ever>Ever</button><button id=late onclick="at=Math.round(this.getBoundingClientRect().left)">Late</button>`)
	var unready *input.NotReadyError
	if _, err := p.Act(t.Context(), p.Input().Click("#ever", input.ClickOptions{Timeout: 400 * time.Millisecond})); !errors.As(err, &unready) || !strings.Contains(err.Error(), "it is moving") {
		t.Errorf("an element that never stands still: %v", err)
	}
	eval(t, p, "late.classList.add('in'), start = Math.round(late.getBoundingClientRect().left)")
	if _, err := p.Act(t.Context(), p.Input().Click("#late", input.ClickOptions{})); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "at - start"); got != "300" {
		t.Errorf("it was clicked after %s of 300 pixels", got)
	}
}

// Frames that are scaled, rotated and zoomed, of the same process and of another.
func TestTransformedFrames(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<!doctype html><style>iframe{width:300px;height:200px;border:5px solid;padding:3px;display:block;margin:20px}</style><script>clicks=[];onmessage=e=>clicks.push(e.data)</script>`)
			for i, style := range []string{"transform:scale(.5)", "transform:rotate(30deg) scale(1.2)", "rotate:-15deg;scale:.8 .6", "zoom:1.5", "transform-origin:0 0;transform:matrix(.7,.1,-.2,.9,40,10)"} {
				for j, host := range []string{"", "http://localhost:" + port} {
					fmt.Fprintf(w, `<div style="transform:translate(10px,5px) scale(.9)"><iframe style="%s" src="%s/frame?%d%d"></iframe></div>`, style, host, i, j)
				}
			}
			return
		}
		fmt.Fprintf(w, `<!doctype html><style>body{margin:0}button{position:absolute;padding:0;border:0;width:24px;height:14px;font:8px sans-serif}</style>
<button style="left:250px;top:170px" onclick="top.postMessage('%[1]s','*')">B%[1]s</button><button style="left:4px;top:2px" onclick="top.postMessage('a%[1]s','*')">A%[1]s</button>`, r.URL.RawQuery)
	}))
	text := outline(t, p)
	var want []string
	for i := range 5 {
		for j := range 2 {
			for _, name := range []string{"A", "B"} {
				id := fmt.Sprintf("%d%d", i, j)
				if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, fmt.Sprintf(`button "%s%s"`, name, id)), input.ClickOptions{})); err != nil {
					t.Errorf("%s%s: %v", name, id, err)
					continue
				}
				if name == "A" {
					id = "a" + id
				}
				want = append(want, id)
			}
		}
	}
	got := eval(t, p, fmt.Sprintf("new Promise(r => { const look = () => clicks.length < %d ? setTimeout(look) : r(clicks.join()); setTimeout(() => r(clicks.join()), 3000); look() })", len(want)))
	if got != `"`+strings.Join(want, ",")+`"` {
		t.Errorf("got  %s\nwant %s", got, strings.Join(want, ","))
	}
}

// A page with a beforeunload dialog, for every way to leave it.
func TestDialogsOnUnload(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><input id=i><a id=link href="/link">link</a>
<script>if (location.pathname === '/') addEventListener('beforeunload', e => { if (i.value) e.preventDefault() })</script>`, r.URL.Path)
	}))
	ctx := t.Context()
	for _, leave := range []struct {
		name, path string
		do         func() (Change, error)
	}{
		{"navigate", "/there", func() (Change, error) { return p.Navigate(ctx, url+"/there") }},
		{"a link", "/link", func() (Change, error) { return p.Act(ctx, p.Input().Click("#link", input.ClickOptions{})) }},
		{"reload", "/", func() (Change, error) { return p.Reload(ctx) }},
	} {
		if _, err := p.Act(ctx, p.Input().Type("#i", "unsaved", input.TypeOptions{})); err != nil {
			t.Fatalf("%s: %v", leave.name, err)
		}
		for _, accept := range []bool{false, true} {
			c, err := leave.do()
			if err != nil || c.Dialog == nil || c.Dialog.Type != "beforeunload" {
				t.Fatalf("%s: %+v %v", leave.name, c, err)
			}
			var dialog *DialogError
			if _, _, err := p.Evaluate(ctx, "1", ""); !errors.As(err, &dialog) {
				t.Errorf("%s: a script behind the dialog: %v", leave.name, err)
			}
			if c, err = p.HandleDialog(ctx, accept, ""); err != nil {
				t.Fatalf("%s: answering %v: %v", leave.name, accept, err)
			}
			if accept && (!c.Navigated || c.URL != url+leave.path) || !accept && c.Navigated {
				t.Errorf("%s: after the answer %v: %+v", leave.name, accept, c)
			}
			want := `"/ unsaved"`
			if accept {
				want = `"` + leave.path + ` "`
			}
			if got := eval(t, p, "document.title + ' ' + i.value"); got != want {
				t.Errorf("%s: after the answer %v the page is %s, want %s", leave.name, accept, got, want)
			}
		}
		if _, err := p.Navigate(ctx, url+"/"); err != nil {
			t.Fatalf("%s: back: %v", leave.name, err)
		}
	}
}

// Popups by script, by target, with and without an opener; one is blocked.
func TestPopups(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><button id=script onclick="window.open('/script')">script</button>
<button id=noopener onclick="window.open('/noopener','_blank','noopener')">noopener</button><a id=blank target=_blank href="/blank">blank</a>
<button id=two onclick="window.open('/one');window.open('/two')">two</button><button id=write onclick="window.open().document.write('<title>written</title>')">write</button>`, r.URL.Path)
	}))
	for _, test := range []struct {
		target string
		urls   []string
	}{{"#script", []string{"/script"}}, {"#noopener", []string{"/noopener"}}, {"#blank", []string{"/blank"}}, {"#write", []string{""}}} {
		c, err := p.Act(t.Context(), p.Input().Click(test.target, input.ClickOptions{}))
		if err != nil || len(c.NewPages) != len(test.urls) || c.Navigated {
			t.Errorf("%s: %+v %v", test.target, c, err)
		}
		for _, info := range c.NewPages {
			q, err := p.browser.Page(t.Context(), info.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.WaitFor(t.Context(), WaitOptions{URL: test.urls[0], Expression: "document.title", Timeout: 5 * time.Second}); err != nil {
				t.Errorf("%s: working in the popup: %v", test.target, err)
			}
			if err := p.browser.ClosePage(t.Context(), info.ID); err != nil {
				t.Error(err)
			}
		}
	}
	_ = url
}

// Sorting by pointer events with capture, as libraries do it, and onto a target that is
// created during the drag.
func TestPointerDrag(t *testing.T) {
	p, _ := open(t, `<!doctype html><style>.card{width:100px;height:30px;border:1px solid;touch-action:none;user-select:none}#slot{height:60px;border:1px dashed}</style>
<div class=card id=a>A</div><div id=slot>slot</div><input type=range id=r min=0 max=100 value=0 style="width:300px">
<script>log=[];a.onpointerdown=e=>{a.setPointerCapture(e.pointerId);log.push('down')};
a.onpointermove=e=>{if(e.buttons){a.style.transform='translate('+e.movementX+'px)';log.push('move')}};
a.onpointerup=e=>{a.style.pointerEvents='none';const under=document.elementFromPoint(e.clientX,e.clientY);log.push('up on '+under.id)}</script>`)
	if _, err := p.Act(t.Context(), p.Input().Drag("#a", "#slot")); err != nil {
		t.Fatal(err)
	}
	got := eval(t, p, "log[0] + ',' + (log.filter(l => l === 'move').length > 2) + ',' + log.at(-1)")
	if got != `"down,true,up on slot"` {
		t.Errorf("the page saw %s", eval(t, p, "log.join()"))
	}
}

func TestContentEditable(t *testing.T) {
	p, _ := open(t, `<!doctype html><div id=e contenteditable style="width:400px;min-height:100px"><p>old <b>bold</b> text</p></div>
<div id=m contenteditable=plaintext-only>x</div><script>types=[];e.addEventListener('beforeinput',e=>types.push(e.inputType))</script>`)
	for _, step := range []struct {
		do       func() (Change, error)
		js, want string
	}{
		{func() (Change, error) {
			return p.Act(t.Context(), p.Input().Type("#e", "new text", input.TypeOptions{}))
		}, "e.innerText.trim()", `"new text"`},
		{func() (Change, error) {
			return p.Act(t.Context(), p.Input().Type("#e", "one\ntwo", input.TypeOptions{Slowly: true}))
		}, "e.innerText.includes('one') && e.innerText.includes('\\ntwo') && types.includes('insertParagraph')", "true"},
		{func() (Change, error) { return p.Act(t.Context(), p.Input().Type("#e", "", input.TypeOptions{})) }, "e.innerText.trim()", `""`},
		{func() (Change, error) { return p.Act(t.Context(), p.Input().Type("#m", "plain", input.TypeOptions{})) }, "m.textContent", `"plain"`},
	} {
		if _, err := step.do(); err != nil {
			t.Error(err)
		}
		if got := eval(t, p, step.js); got != step.want {
			t.Errorf("%s is %s, want %s (%s)", step.js, got, step.want, eval(t, p, "e.innerHTML"))
		}
	}
}

// A link that downloads leaves the page unchanged, and the click reports the download. An
// element that takes no mouse events reports that.
func TestLinksThatDownload(t *testing.T) {
	p, url := open(t, `<!doctype html><title>Files</title><a id=a href=/file download>file</a><a id=b href=/file download onclick="event.preventDefault(); document.title = 'kept'">kept</a>
<button id=n style="pointer-events:none">n</button>`)
	for range 5 {
		if c, err := p.Act(t.Context(), p.Input().Click("#a", input.ClickOptions{})); err != nil || c.Download != url+"/file" || c.Navigated {
			t.Errorf("%+v %v", c, err)
		}
	}
	start := time.Now()
	if c, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); err != nil || c.Download != "" || time.Since(start) > windowPatience {
		t.Errorf("a link that is kept from it: %+v %v, after %v", c, err, time.Since(start))
	}
	var unready *input.NotReadyError
	if _, err := p.Act(t.Context(), p.Input().Click("#n", input.ClickOptions{Timeout: 200 * time.Millisecond})); !errors.As(err, &unready) || !strings.Contains(err.Error(), "pointer-events: none") {
		t.Errorf("%v", err)
	}
}

// A selector matches in shadow roots, as Playwright's selectors do.
func TestSelectorsThroughShadowRoots(t *testing.T) {
	p, _ := open(t, `<!doctype html><my-app id=one></my-app><my-app id=two></my-app><p title="a, b"><b>light</b></p><script>customElements.define('my-app', class extends HTMLElement {
constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<div class=bar><my-button></my-button></div>' } });
customElements.define('my-button', class extends HTMLElement { constructor() { super(); const r = this.attachShadow({mode: 'open'}); r.innerHTML = '<span><button>Go</button></span>';
r.querySelector('button').onclick = () => document.title = 'went ' + this.getRootNode().host.id } })</script>`)
	for selector, want := range map[string]string{"#one button": "went one", "my-app#two .bar my-button > button": "", "#two .bar span > button": "went two", "my-app:nth-of-type(1) button": "went one"} {
		eval(t, p, "document.title = ''")
		_, err := p.Act(t.Context(), p.Input().Click(selector, input.ClickOptions{Timeout: 300 * time.Millisecond}))
		if got := eval(t, p, "document.title"); got != `"`+want+`"` || (err == nil) != (want != "") {
			t.Errorf("%s: %s %v", selector, got, err)
		}
	}
	if _, err := p.Act(t.Context(), p.Input().Click(`p[title="a, b"] b`, input.ClickOptions{})); err != nil {
		t.Error(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Click("my-app button", input.ClickOptions{})); err == nil || !strings.Contains(err.Error(), "matches 2 elements") {
		t.Errorf("two of them: %v", err)
	}
}
