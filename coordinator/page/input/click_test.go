package input_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// A position is counted from the top left corner inside the border. It is scrolled into view,
// and must be hit as any other point.
func TestClickAtAPosition(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>canvas{display:block;border:7px solid;background:#eee}
#cover{position:absolute;left:200px;top:0;width:50px;height:50px}</style>
<div style="position:relative"><canvas id=small width=300 height=150></canvas><div id=cover>cover</div></div>
<div id=box style="width:200px;height:100px;overflow:auto"><canvas id=inner width=3000 height=2000></canvas></div>
<canvas id=large width=5000 height=6000></canvas>
<div id=map style="position:relative;width:200px;height:100px">
  <button style="position:absolute;left:150px;top:60px;width:40px;height:30px"
    onclick="hits.push('zoom')">Zoom</button></div>
<iframe id=frame width=300 height=200
  srcdoc="<canvas width=1000 height=1000 style='display:block'
    onclick='parent.hits.push([event.offsetX, event.offsetY].join())'></canvas>"></iframe>
<script>hits = []
for (const c of document.querySelectorAll('canvas')) for (const k of ['click', 'contextmenu'])
  c.addEventListener(k, (e) => hits.push(c.id + ' ' + e.offsetX + ',' + e.offsetY))</script>`)
	inner := pagetest.Ref(t, pagetest.Snapshot(t, p)[strings.Index(pagetest.Snapshot(t, p), "iframe"):], "canvas")
	for _, test := range []struct {
		target string
		x, y   float64
		opts   input.ClickOptions
		want   string
	}{
		{"#small", 10, 20, input.ClickOptions{}, "small 10,20"},
		{"#small", 0, 0, input.ClickOptions{Button: "right"}, "small 0,0"},
		{"#small", 299, 149, input.ClickOptions{}, "small 299,149"},
		{"#inner", 2800, 1900, input.ClickOptions{}, "inner 2800,1900"},
		{"#large", 4900, 5900, input.ClickOptions{}, "large 4900,5900"},
		{"#large", 5, 5, input.ClickOptions{}, "large 5,5"},
		{"#map", 160, 70, input.ClickOptions{}, "zoom"},
		{inner, 40, 30, input.ClickOptions{}, "40,30"},
		{inner, 900, 950, input.ClickOptions{}, "900,950"},
	} {
		test.opts.Position = &frame.Point{X: test.x, Y: test.y}
		pagetest.Evaluate(t, p, "void (hits = [])")
		change := pagetest.Act(t, p, p.Input().Click(test.target, test.opts))
		pagetest.Expect(t, p, "hits.join('; ')", strconv.Quote(test.want))
		if test.want == "zoom" && change.Elements[0].String() != `button "Zoom"` {
			t.Errorf("the button at the position is named %+v", change.Elements)
		}
	}
	soon := input.ClickOptions{Timeout: 200 * time.Millisecond}
	for _, test := range []struct {
		x, y float64
		why  string
	}{{210, 10, `covered by <div id="cover">`}, {400, 10, "the position is outside of it: it is 314 × 164"},
		{-9, 0, "outside of it"}} {
		soon.Position = &frame.Point{X: test.x, Y: test.y}
		pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#small", soon), test.why)
	}
	pagetest.Evaluate(t, p, "map.scrollIntoView()")
	element, err := p.Identify(t.Context(), input.Aim{Target: "#map", Pointer: true,
		Position: &frame.Point{X: 160, Y: 70}})
	if err != nil || element.String() != `button "Zoom"` {
		t.Errorf("what would be hit: %+v %v", element, err)
	}
}

func TestClickReportsWhyATargetIsNotReady(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>body{margin:0}#cover{position:fixed;inset:0;display:none}
@keyframes go{to{transform:translateX(300px)}} #mover.go{animation:go 400ms linear}</style>
<button id=ok onclick="hits.push('ok')">OK</button>
<button id=off disabled>Off</button>
<button id=late disabled onclick="hits.push('late')">Late</button>
<button id=none style="visibility:hidden">None</button>
<button id=mover class=go onclick="hits.push('mover')">Mover</button>
<input id=ro readonly>
<div id=cover>an overlay</div>
<div style="height:3000px"></div><button id=far onclick="hits.push('far')">Far</button>
<div style="height:3000px"></div>
<script>hits=[]</script>`)
	click := func(target string) error {
		_, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{Timeout: 300 * time.Millisecond}))
		return err
	}
	pagetest.Evaluate(t, p, "setTimeout(() => late.disabled = false, 200), 1")
	for _, target := range []string{"#ok", "#late", "#mover", "#far"} {
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
	}
	pagetest.Expect(t, p, "hits.join()", `"ok,late,mover,far"`)
	pagetest.Evaluate(t, p, "scrollTo(0,0), cover.style.display='block'")
	for _, test := range []struct{ target, reason string }{
		{"#off", "it is disabled"},
		{"#none", "visibility"},
		{"#ok", `covered by <div id="cover"> "an overlay"`},
	} {
		err := click(test.target)
		var unready *input.NotReadyError
		if !errors.As(err, &unready) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: got %v, want the reason %q", test.target, err, test.reason)
		}
	}
	pagetest.Fails[error](t, p, p.Input().Type("#ro", "x", input.TypeOptions{Timeout: 300 * time.Millisecond}),
		"not editable")
	var target *frame.TargetError
	if err := click("button"); !errors.As(err, &target) || !strings.Contains(err.Error(), "matches") {
		t.Errorf("several matches: %v", err)
	}
	if err := click("#nothing"); !errors.As(err, &target) {
		t.Errorf("no match: %v", err)
	}
	if err := click("%%"); !errors.As(err, &target) || !strings.Contains(err.Error(), "CSS") {
		t.Errorf("not a selector: %v", err)
	}
	pagetest.Expect(t, p, "hits.length", "4")
}

func TestClickKinds(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><button id=b>B</button><script>log=[];
for (const n of ['click','dblclick','contextmenu','auxclick']) b.addEventListener(n, e => {
  e.preventDefault(); log.push([n, e.button, e.shiftKey, e.isTrusted].join(':')) })</script>`)
	for _, opts := range []input.ClickOptions{{Double: true}, {Button: "right"}, {Button: "middle"},
		{Modifiers: []string{"Shift"}}} {
		pagetest.Act(t, p, p.Input().Click("#b", opts))
	}
	pagetest.Expect(t, p, "log.join(' ')",
		`"click:0:false:true click:0:false:true dblclick:0:false:true contextmenu:2:false:true `+
			`auxclick:2:false:true auxclick:1:false:true click:0:true:true"`)
	for _, unknown := range []input.ClickOptions{{Button: "fourth"}, {Modifiers: []string{"Hyper"}}} {
		pagetest.Fails[error](t, p, p.Input().Click("#b", unknown), "")
	}
}

// A click on a link may open a tab without the page's script.
func TestTabsByTheUsersKeys(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, pagetest.HTML(`<!doctype html><title>Start</title><a id=a href=/other>Other</a>`))
	for _, opts := range []input.ClickOptions{{Button: "middle"}, {Modifiers: []string{"ControlOrMeta"}},
		{Modifiers: []string{"Shift"}}} {
		c, err := p.Act(t.Context(), p.Input().Click("#a", opts))
		if err != nil || len(c.Tabs.Open) != 1 || c.Tabs.Open[0].URL != url+"/other" || c.Navigated {
			t.Errorf("%+v: %+v, %v", opts, c, err)
		}
		for _, tab := range c.Tabs.Open {
			if err := b.ClosePage(t.Context(), tab.ID); err != nil {
				t.Error(err)
			}
		}
	}
}

// An action waits for a missing target, also into the next document. If the target never
// appears, the action reports a timeout.
func TestTargetThatComes(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/next" {
			fmt.Fprint(w, `<!doctype html>
<script>setTimeout(() => document.write('<button id=late onclick="document.title = 1">Late</button>'), 200)</script>`)
			return
		}
		fmt.Fprint(w, `<!doctype html>Here`)
	}))
	pagetest.Evaluate(t, p, "setTimeout(() => location = '/next', 100)")
	pagetest.Act(t, p, p.Input().Click("#late", input.ClickOptions{Timeout: 10 * time.Second}))
	if got := pagetest.Evaluate(t, p, "document.title"); got != `"1"` || p.URL() != url+"/next" {
		t.Errorf("at %s the title is %s", p.URL(), got)
	}
	start := time.Now()
	var missing *frame.TargetError
	_, err := p.Act(t.Context(), p.Input().Click("#never", input.ClickOptions{Timeout: 500 * time.Millisecond}))
	if !errors.As(err, &missing) || time.Since(start) < 400*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// A selector matches any current element. An action finds lists that recreate their rows
// during scrolling again, until its timeout.
func TestTargetThatIsReplaced(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>#l{height:300px;overflow:auto;position:relative}.r{position:absolute;height:30px}</style>
<div style="height:600px"></div><div id=l><div id=s style="height:30000px"></div></div><input id=i>
<script>clicked = []
const rows = () => { const a = Math.floor(l.scrollTop / 30); s.innerHTML = ''
  for (let i = a; i < a + 12; i++) {
    const b = document.createElement('button'); b.className = 'r'; b.style.top = i * 30 + 'px';
    b.dataset.row = i; b.textContent = 'row ' + i; b.onclick = () => clicked.push(i); s.append(b)
  } }
l.onscroll = rows; rows()</script>`)
	pagetest.Act(t, p, p.Input().Click("[data-row='11']", input.ClickOptions{}))
	pagetest.Expect(t, p, "clicked", "[11]")
	// The error for an element that never stays must not call it a ref.
	pagetest.Evaluate(t, p, `l.remove(); again = new MessageChannel(); again.port1.onmessage = () => {
		const b = document.createElement('button'); b.id = 'b'; document.querySelector('#b')?.remove();
		document.body.append(b); again.port2.postMessage(0)
	}; again.port2.postMessage(0)`)
	_, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{Timeout: 300 * time.Millisecond}))
	if err == nil || strings.Contains(err.Error(), "ref") {
		t.Errorf("a button that never stays: %v", err)
	}
	pagetest.Evaluate(t, p, "again.port1.close()")
	pagetest.Act(t, p, p.Input().Type("#i", "x", input.TypeOptions{}))
}

// Overlays that appear and disappear, that appear with the mouse, that let events through,
// and sticky headers over scrolled targets.
func TestOverlays(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0}.cover{position:fixed;inset:0;background:#0003}#ghost{pointer-events:none}
header{position:sticky;top:0;height:60px;background:#eee}#box{height:200px;overflow:auto}</style>
<header>Header</header>
<button id=plain onclick="hits.push('plain')">Plain</button><button id=wary onclick="hits.push('wary')">Wary</button>
<div id=box><div style="height:900px"></div><button id=deep onclick="hits.push('deep')">Deep</button></div>
<div style="height:2000px"></div><button id=low onclick="hits.push('low')">Low</button><div style="height:2000px"></div>
<script>hits=[];
function cover(id, ms) {
  const d=document.createElement('div'); d.className='cover'; d.id=id; d.onclick=d.onmousedown=e=>hits.push('cover');
  document.body.append(d); if (ms) setTimeout(()=>d.remove(),ms); return d }
wary.onmouseenter=()=>{
  const ms=wary.dataset.cover; delete wary.dataset.cover; if (ms) cover('sudden', +ms) }</script>`)
	click := func(target string) { pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{})) }
	hits := func(want string) {
		t.Helper()
		pagetest.Expect(t, p, "hits.splice(0).join()", `"`+want+`"`)
	}
	for _, test := range []struct{ prepare, target string }{
		{"cover('passing', 400)", "plain"},
		{"cover('ghost')", "plain"},          // it lets events through
		{"wary.dataset.cover = 300", "wary"}, // one that comes with the mouse and goes
	} {
		pagetest.Evaluate(t, p, test.prepare+", 1")
		click("#" + test.target)
		hits(test.target)
	}
	// The error names an overlay that appears with the mouse and stays; the overlay gets no click.
	pagetest.Evaluate(t, p, "wary.dataset.cover = 60000, 1")
	pagetest.Act(t, p, p.Input().Vision().Move(500, 500))
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#wary",
		input.ClickOptions{Timeout: 500 * time.Millisecond}), `covered by <div id="sudden"`)
	pagetest.Evaluate(t, p, "document.querySelector('#sudden')?.remove()")
	hits("")
	for _, target := range []string{"#deep", "#low", "#plain"} {
		click(target)
	}
	hits("deep,low,plain")
}

func TestAnimations(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<style>@keyframes spin{from{transform:translateX(0)}to{transform:translateX(200px)}}
#ever{animation:spin 1s linear infinite}
#late{opacity:0;transition:transform .4s}#late.in{opacity:1;transform:translateX(300px)}</style>
<button id=ever>Ever</button><button id=late onclick="at=Math.round(this.getBoundingClientRect().left)">Late</button>`)
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#ever",
		input.ClickOptions{Timeout: 400 * time.Millisecond}), "it is moving")
	pagetest.Evaluate(t, p, "late.classList.add('in'), start = Math.round(late.getBoundingClientRect().left)")
	pagetest.Act(t, p, p.Input().Click("#late", input.ClickOptions{}))
	pagetest.Expect(t, p, "at - start", "300")
}

// What moves without an end is acted on where it stays, or at the position that was given.
func TestEndlessAnimations(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>
@keyframes pulse { to { transform: scale(1.3) } } @keyframes spin { to { rotate: 360deg } }
@keyframes away { to { transform: translateX(600px) } }
button { width: 80px; height: 30px; display: block; margin: 30px }
#pulse { animation: pulse .5s infinite alternate } #spin { animation: spin 1s linear infinite }
#away { animation: away .5s linear infinite }
</style><button id=pulse onclick="hits.push(id)">Pulse</button><button id=spin onclick="hits.push(id)">Spin</button>
<button id=script onclick="hits.push(id)">Script</button><button id=away onclick="hits.push(id)">Away</button>
<script>hits = []; let wide = 80
const grow = () => { script.style.width = (wide = wide === 80 ? 90 : 80) + "px"; requestAnimationFrame(grow) }; grow()
</script>`)
	for _, target := range []string{"#pulse", "#spin", "#script"} {
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
	}
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#away",
		input.ClickOptions{Timeout: time.Second}), "it is moving: click or hover with a position")
	pagetest.Act(t, p, p.Input().Click("#away", input.ClickOptions{Position: &frame.Point{X: 40, Y: 15}}))
	pagetest.Expect(t, p, "hits.join()", `"pulse,spin,script,away"`)
}

// Frames that are scaled, rotated and zoomed, of the same process and of another.
func TestTransformedFrames(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<!doctype html>
<style>iframe{width:300px;height:200px;border:5px solid;padding:3px;display:block;margin:20px}</style>
<script>clicks=[];onmessage=e=>clicks.push(e.data)</script>`)
			for i, style := range []string{"transform:scale(.5)", "transform:rotate(30deg) scale(1.2)",
				"rotate:-15deg;scale:.8 .6", "zoom:1.5", "transform-origin:0 0;transform:matrix(.7,.1,-.2,.9,40,10)"} {
				for j, host := range []string{"", "http://localhost:" + port} {
					fmt.Fprintf(w, `<div style="transform:translate(10px,5px) scale(.9)">
<iframe style="%s" src="%s/frame?%d%d"></iframe></div>`, style, host, i, j)
				}
			}
			return
		}
		fmt.Fprintf(w, `<!doctype html>
<style>body{margin:0}button{position:absolute;padding:0;border:0;width:24px;height:14px;font:8px sans-serif}</style>
<button style="left:250px;top:170px" onclick="top.postMessage('B%[1]s','*')">B%[1]s</button>
<button style="left:4px;top:2px" onclick="top.postMessage('A%[1]s','*')">A%[1]s</button>`, r.URL.RawQuery)
	}))
	text := pagetest.Snapshot(t, p)
	var want []string
	for i := range 5 {
		for j := range 2 {
			for _, name := range []string{"A", "B"} {
				id := fmt.Sprintf("%s%d%d", name, i, j)
				pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, fmt.Sprintf("button %q", id)), input.ClickOptions{}))
				want = append(want, id)
			}
		}
	}
	arrived := fmt.Sprintf("new Promise(r => { "+
		"const look = () => clicks.length < %d ? setTimeout(look) : r(clicks.join()); look() })", len(want))
	pagetest.Expect(t, p, arrived, `"`+strings.Join(want, ",")+`"`)
}

// A link that downloads leaves the page unchanged, and the click reports the download. An
// element that takes no mouse events reports that.
func TestLinksThatDownload(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><title>Files</title><a id=a href=/file download>file</a>
<a id=b href=/file download onclick="event.preventDefault(); document.title = 'kept'">kept</a>
<button id=n style="pointer-events:none">n</button>`)
	for range 5 {
		if c, err := p.Act(t.Context(), p.Input().Click("#a", input.ClickOptions{})); err != nil || c.Download != url+
			"/file" || c.Navigated {
			t.Errorf("%+v %v", c, err)
		}
	}
	// The click on a link that is kept from it waits for no download, which would take a
	// second. The fastest of several clicks is the one that a busy machine has not delayed.
	fastest := time.Minute
	for range 5 {
		start := time.Now()
		if c := pagetest.Act(t, p, p.Input().Click("#b", input.ClickOptions{})); c.Download != "" {
			t.Errorf("%+v", c)
		}
		fastest = min(fastest, time.Since(start))
	}
	if fastest > time.Second {
		t.Errorf("each click took %v", fastest)
	}
	pagetest.Fails[*input.NotReadyError](t, p, p.Input().Click("#n", input.ClickOptions{Timeout: 200 * time.Millisecond}),
		"pointer-events: none")
}

// A target scrolls to where a frame of another site was drawn a moment ago. The browser
// may still route events for the target to that frame.
func TestClickWhereAFrameWas(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html><style>body{margin:0}iframe{display:block;border:0;width:100%%;height:700px}</style>
<script>clicks = [], strays = 0; onmessage = () => strays++</script>
<iframe src="http://localhost:%s/other"></iframe><button onclick="clicks.push('button')">Button</button>
<iframe srcdoc="<button onclick=&quot;parent.clicks.push('inner')&quot;>Inner</button>"></iframe>
<div style="height:900px"></div>`, port)
			return
		}
		fmt.Fprint(w, `<!doctype html><body style="height:700px" onclick="parent.postMessage('stray', '*')">another site`)
	}))
	text := pagetest.Snapshot(t, p)
	pagetest.Act(t, p, p.Input().Vision().Move(1, 1)) // otherwise a background tab draws no frames
	for range 15 {
		for _, name := range []string{"Button", "Inner"} {
			pagetest.Evaluate(t, p, "new Promise(r => { "+
				"scrollTo(0, 0); requestAnimationFrame(() => requestAnimationFrame(r)) })")
			pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, name), input.ClickOptions{}))
			if got := pagetest.Evaluate(t, p, "clicks.splice(0).join() + strays"); got != `"`+strings.ToLower(name)+`0"` {
				t.Fatalf("%s: the page got %s", name, got)
			}
		}
	}
}

// Frames of other ports of one host share a process, and no script can leave them.
func TestClickInFramesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	innermost := httptest.NewServer(pagetest.HTML(`<!doctype html>
<button style="margin:40px" onclick="top.postMessage('pay', '*')">Pay</button>`))
	defer innermost.Close()
	inner := httptest.NewServer(pagetest.HTML(`<!doctype html><iframe style="margin:30px 50px" srcdoc="<iframe src='` +
		innermost.URL + `'></iframe>"></iframe>`))
	defer inner.Close()
	p, _ := pagetest.Open(t, `<!doctype html>
<p style="height:100px">Shop</p><iframe width=500 height=250 style="margin-left:80px" src="`+inner.URL+`"></iframe>
<script>got = []; addEventListener('message', (e) => got.push(e.data))</script>`)
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Pay"})
	ref := pagetest.Ref(t, pagetest.Snapshot(t, p), `button "Pay"`)
	pagetest.Act(t, p, p.Input().Click(ref, input.ClickOptions{}))
	pagetest.Expect(t, p, "new Promise((done) => { "+
		"const look = () => got.length ? done(got.join()) : setTimeout(look); look() })", `"pay"`)
}

// A control is clicked where no other control in it is. What only holds controls, and a
// control that another one in it stands for, are clicked in the middle.
func TestControlsInAControl(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><style>li>ul{padding:0 0 0 30px}</style>
<script>hits = []; const note = (e, name) => { e.stopPropagation(); hits.push(name) }</script>
<ul role=tree><li id=src role=treeitem aria-expanded=true onclick="note(event, 'src')">src
  <ul role=group><li role=treeitem onclick="note(event, 'main.c')">main.c</li></ul></li>
<li id=long role=treeitem onclick="note(event, 'long')"><b>long</b>
  <ul role=group><li role=treeitem style="height:3000px" onclick="note(event, 'tall')">tall</li></ul></li></ul>
<div id=card onclick="note(event, 'card')" style="width:300px">A card
  <button style="width:200px" onclick="note(event, 'delete')">Delete</button></div>
<div id=plain style="width:300px;text-align:center">Some
  <button style="width:200px" onclick="note(event, 'plain')">Inner</button></div>
<ul role=menu><li id=menu role=menuitem style="padding:10px">
  <a href="#x" style="display:block" onclick="note(event, 'link')">Settings</a></li></ul>
<div id=upload role=button style="position:relative;width:100px">Upload<input type=checkbox
  style="position:absolute;inset:0;opacity:0;margin:0;width:100%;height:100%" onclick="note(event, 'field')"></div>
<button id=picture onclick="note(event, 'picture')"><canvas width=40 height=20></canvas></button>
<ul role=tree style="padding:0"><li id=full role=treeitem style="display:block">
  <ul role=group style="padding:0;margin:0"><li role=treeitem style="display:block"
    onclick="note(event, 'never')">whole</li></ul></li></ul>`)
	src := pagetest.Ref(t, pagetest.Snapshot(t, p), `treeitem "src`)
	for _, test := range []struct{ target, want string }{
		{src, "src"}, {"#src", "src"}, {"#long", "long"}, {"#card", "card"}, {"#plain", "plain"}, {"#menu", "link"},
		{"#upload", "field"}, {"#picture", "picture"},
	} {
		before, err := p.Identify(t.Context(), input.Aim{Target: test.target, Pointer: true})
		if err != nil {
			t.Error(err)
		}
		change := pagetest.Act(t, p, p.Input().Click(test.target, input.ClickOptions{}))
		pagetest.Expect(t, p, "hits.splice(0).join()", strconv.Quote(test.want))
		if test.target == src && (change.Elements[0].Self != "" || before.String() != change.Elements[0].String()) {
			t.Errorf("before: %+v; then: %+v", before, change.Elements)
		}
	}
	pagetest.Fails[*frame.TargetError](t, p, p.Input().Click("#full", input.ClickOptions{}),
		`<li> "whole" in it takes the click`)
	pagetest.Act(t, p, p.Input().Hover("#full", input.HoverOptions{}))
	pagetest.Expect(t, p, "hits.join()", `""`)
}

// The pointer over a disabled button may show why it is disabled.
func TestHoverOverADisabledButton(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<span onmouseenter="tip.textContent = 'Fill in the form first'"><button disabled>Pay</button></span><p id=tip></p>`)
	pagetest.Act(t, p, p.Input().Hover("button", input.HoverOptions{}))
	pagetest.Expect(t, p, "tip.textContent", `"Fill in the form first"`)
}
