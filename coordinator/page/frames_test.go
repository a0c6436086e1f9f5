package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
)

// Frames of the same process and of another process (localhost and 127.0.0.1 are different
// sites), nested frames and shadow roots: snapshots show all, and clicks reach all.
func TestFramesAndShadowRoots(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		other := "http://localhost:" + port
		if strings.HasPrefix(r.Host, "localhost") {
			other = "http://127.0.0.1:" + port
		}
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<!doctype html><title>outer</title><h1>Outer</h1>
<iframe title=same src="/inner?same" style="margin:40px;border:7px solid;padding:5px"></iframe>
<div style="height:1500px"></div>
<iframe title=other src="%s/nest" style="border:3px solid;width:500px;height:400px"></iframe>
<my-box></my-box>
<script>clicks=[];addEventListener('message',e=>clicks.push(e.data));
customElements.define('my-box', class extends HTMLElement { constructor() { super(); const s=this.attachShadow({mode:'open'});
s.innerHTML='<button>Shadow button</button><slot></slot>'; s.querySelector('button').onclick=()=>clicks.push('shadow') } })</script>`, other)
		case "/nest":
			fmt.Fprintf(w, `<p>Nest</p><iframe title=back src="%s/inner?deep" style="margin:30px"></iframe><button onclick="top.postMessage('nest','*')">Nest button</button>`, other)
		default:
			fmt.Fprintf(w, `<button onclick="top.postMessage('%[1]s','*')">Button %[1]s</button><input aria-label="input.Field %[1]s" oninput="top.postMessage(this.value,'*')">`, r.URL.RawQuery)
		}
	}))
	text := outline(t, p)
	contains(t, text, `heading "Outer"`, `iframe "same":`, `iframe "other":`, `iframe "back":`, `button "Button same"`, `button "Nest button"`, `button "Button deep"`, `button "Shadow button"`)
	for _, name := range []string{"Button same", "Nest button", "Button deep", "Shadow button"} {
		if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, name), input.ClickOptions{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Act(t.Context(), p.Input().Type(ref(t, text, "input.Field deep"), "typed deep", input.TypeOptions{})); err != nil {
		t.Error(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Type(ref(t, text, "input.Field same"), "abc", input.TypeOptions{Slowly: true})); err != nil {
		t.Error(err)
	}
	if got, want := eval(t, p, "new Promise(r => { const look = () => clicks.length < 8 ? setTimeout(look) : r(clicks.sort().join()); look() })"), `"a,ab,abc,deep,nest,same,shadow,typed deep"`; got != want {
		t.Errorf("clicked %s, want %s", got, want)
	}
	if again := outline(t, p); ref(t, again, "Button deep") != ref(t, text, "Button deep") || ref(t, again, "Shadow button") != ref(t, text, "Shadow button") {
		t.Errorf("refs changed:\n%s", again)
	}
	v, _, err := p.Evaluate(t.Context(), "(e) => e.textContent + location.search", ref(t, text, "Button deep"))
	if err != nil || string(v) != `"Button deep?deep"` {
		t.Errorf("evaluate in a frame of another process: %s %v", v, err)
	}
	img, err := p.Screenshot(t.Context(), ScreenshotOptions{Target: ref(t, text, "Button deep")})
	if err != nil || img.Width < 20 || img.Width > 300 {
		t.Errorf("screenshot of an element in a frame: %dx%d %v", img.Width, img.Height, err)
	}
	// A frame that navigates invalidates its own refs, and no others.
	eval(t, p, `document.querySelector('iframe').src='/inner?new', new Promise(r => document.querySelector('iframe').onload = r).then(() => 1)`)
	var stale *frame.StaleRefError
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, "Button same"), input.ClickOptions{})); !errors.As(err, &stale) {
		t.Errorf("a ref of a replaced frame: %v", err)
	}
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, "Button deep"), input.ClickOptions{})); err != nil {
		t.Errorf("a ref of another frame: %v", err)
	}
	contains(t, outline(t, p), `button "Button new"`)
}

func TestStaleRefs(t *testing.T) {
	p, url := open(t, `<!doctype html><title>t</title><button id=a>Save</button><button id=b>Other</button>`)
	text := outline(t, p)
	save := ref(t, text, "Save")
	eval(t, p, "a.remove()")
	var stale *frame.StaleRefError
	if _, err := p.Act(t.Context(), p.Input().Click(save, input.ClickOptions{})); !errors.As(err, &stale) || !strings.Contains(err.Error(), `button "Save"`) {
		t.Errorf("a removed element: %v", err)
	}
	other := ref(t, text, "Other")
	if _, err := p.Navigate(t.Context(), url+"/again"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Click(other, input.ClickOptions{})); !errors.As(err, &stale) {
		t.Errorf("a ref of the document before: %v", err)
	} else if now := ref(t, outline(t, p), "Other"); stale.Now != now || !strings.Contains(err.Error(), now) {
		t.Errorf("it offers %q, the same element is %q now", stale.Now, now)
	}
	again := outline(t, p)
	if strings.Contains(again, "[ref="+other+"]") || strings.Contains(again, "[ref="+save+"]") {
		t.Errorf("a ref is given out again:\n%s", again)
	}
	if _, err := p.Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Click(ref(t, outline(t, p), "Other"), input.ClickOptions{})); err != nil {
		t.Errorf("after going back: %v", err)
	}
	var target *frame.TargetError
	if _, err := p.Act(t.Context(), p.Input().Click("e9999", input.ClickOptions{})); !errors.As(err, &target) {
		t.Errorf("a ref that was never given out: %v", err)
	}
}

// A search in frames does not report a closed page if a frame of the previous document,
// from another site, has ended.
func TestSelectorsAfterFramesOfOtherSites(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		switch {
		case strings.HasPrefix(r.URL.Path, "/page"):
			fmt.Fprintf(w, `<p>page<iframe src="http://localhost:%s/outer"></iframe>`, port)
		case r.URL.Path == "/outer":
			fmt.Fprintf(w, `<p>outer<iframe src="http://127.0.0.1:%s/inner"></iframe>`, port)
		default:
			fmt.Fprint(w, `<button>inner</button>`)
		}
	}))
	for i := range 6 {
		if _, err := p.Navigate(t.Context(), fmt.Sprintf("%s/page%d", url, i)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Act(t.Context(), p.Input().Click("button", input.ClickOptions{})); err != nil {
			t.Errorf("page %d: %v", i, err)
		}
		frames := len(p.frames.All())
		if frames != 3 {
			t.Errorf("page %d: of its 3 frames %d are known", i, frames)
		}
	}
}

// A target scrolls to where a frame of another site was drawn a moment ago. The browser
// may still route events for the target to that frame.
func TestClickWhereAFrameWas(t *testing.T) {
	p, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html><style>body{margin:0}iframe{display:block;border:0;width:100%%;height:700px}</style><script>clicks = [], strays = 0; onmessage = () => strays++</script>
<iframe src="http://localhost:%s/other"></iframe><button onclick="clicks.push('button')">Button</button><iframe srcdoc="<button onclick=&quot;parent.clicks.push('inner')&quot;>Inner</button>"></iframe><div style="height:900px"></div>`, port)
			return
		}
		fmt.Fprint(w, `<!doctype html><body style="height:700px" onclick="parent.postMessage('stray', '*')">another site`)
	}))
	text := outline(t, p)
	if err := p.emulateFocus(t.Context()); err != nil { // otherwise a background tab draws no frames
		t.Fatal(err)
	}
	for range 15 {
		for _, name := range []string{"Button", "Inner"} {
			eval(t, p, "new Promise(r => { scrollTo(0, 0); requestAnimationFrame(() => requestAnimationFrame(r)) })")
			if _, err := p.Act(t.Context(), p.Input().Click(ref(t, text, name), input.ClickOptions{})); err != nil {
				t.Fatal(err)
			}
			if got := eval(t, p, "clicks.splice(0).join() + strays"); got != `"`+strings.ToLower(name)+`0"` {
				t.Fatalf("%s: the page has heard %s", name, got)
			}
		}
	}
}
