package frame_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// Frames of the same process and of another process (localhost and 127.0.0.1 are different
// sites), nested frames and shadow roots: snapshots show all, and clicks reach all.
func TestFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
customElements.define('my-box', class extends HTMLElement { constructor() {
  super(); const s=this.attachShadow({mode:'open'});
  s.innerHTML='<button>Shadow button</button><slot></slot>';
  s.querySelector('button').onclick=()=>clicks.push('shadow') } })</script>`, other)
		case "/nest":
			fmt.Fprintf(w, `<p>Nest</p><iframe title=back src="%s/inner?deep" style="margin:30px"></iframe>
<button onclick="top.postMessage('nest','*')">Nest button</button>`, other)
		default:
			fmt.Fprintf(w, `<button onclick="top.postMessage('%[1]s','*')">Button %[1]s</button>
<input aria-label="Field %[1]s" oninput="top.postMessage(this.value,'*')">`, r.URL.RawQuery)
		}
	}))
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, `heading "Outer"`, `iframe "same":`, `iframe "other":`, `iframe "back":`,
		`button "Button same"`, `button "Nest button"`, `button "Button deep"`, `button "Shadow button"`)
	for _, name := range []string{"Button same", "Nest button", "Button deep", "Shadow button"} {
		pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, name), input.ClickOptions{}))
	}
	pagetest.Act(t, p, p.Input().Type(pagetest.Ref(t, text, "Field deep"), "typed deep", input.TypeOptions{}))
	pagetest.Act(t, p, p.Input().Type(pagetest.Ref(t, text, "Field same"), "abc", input.TypeOptions{Slowly: true}))
	pagetest.Expect(t, p, "new Promise(r => { "+
		"const look = () => clicks.length < 8 ? setTimeout(look) : r(clicks.sort().join()); look() })",
		`"a,ab,abc,deep,nest,same,shadow,typed deep"`)
	if second := pagetest.Snapshot(t, p); pagetest.Ref(t, second, "Button deep") != pagetest.Ref(t, text, "Button deep") ||
		pagetest.Ref(t, second, "Shadow button") != pagetest.Ref(t, text, "Shadow button") {
		t.Errorf("refs changed:\n%s", second)
	}
	v, _, err := p.Evaluate(t.Context(), "(e) => e.textContent + location.search",
		pagetest.Ref(t, text, "Button deep"), page.Bounds{})
	if err != nil || string(v) != `"Button deep?deep"` {
		t.Errorf("evaluate in a frame of another process: %s %v", v, err)
	}
	img, err := p.Screen().Screenshot(t.Context(), capture.Options{Target: pagetest.Ref(t, text, "Button deep")})
	if err != nil || img.Width < 20 || img.Width > 300 {
		t.Errorf("screenshot of an element in a frame: %dx%d %v", img.Width, img.Height, err)
	}
	// A frame that navigates invalidates its own refs, and no others.
	pagetest.Evaluate(t, p, `document.querySelector('iframe').src='/inner?new',
  new Promise(r => document.querySelector('iframe').onload = r).then(() => 1)`)
	pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(pagetest.Ref(t, text, "Button same"), input.ClickOptions{}),
		"")
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Button deep"), input.ClickOptions{}))
	pagetest.Contains(t, pagetest.Snapshot(t, p), `button "Button new"`)
}

func TestStaleRefs(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><title>t</title><button id=a>Save</button><button id=b>Other</button>`)
	text := pagetest.Snapshot(t, p)
	save := pagetest.Ref(t, text, "Save")
	pagetest.Evaluate(t, p, "a.remove()")
	var stale *frame.StaleRefError
	pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(save, input.ClickOptions{}), `button "Save"`)
	other := pagetest.Ref(t, text, "Other")
	pagetest.Navigate(t, p, url+"/again")
	if _, err := p.Act(t.Context(), p.Input().Click(other, input.ClickOptions{})); !errors.As(err, &stale) {
		t.Errorf("a ref of the document before: %v", err)
	} else if now := pagetest.Ref(t, pagetest.Snapshot(t, p), "Other"); stale.Replacement != now ||
		!strings.Contains(err.Error(), now) {
		t.Errorf("it offers %q, the same element is %q now", stale.Replacement, now)
	}
	second := pagetest.Snapshot(t, p)
	if strings.Contains(second, "[ref="+other+"]") || strings.Contains(second, "[ref="+save+"]") {
		t.Errorf("a ref is given out again:\n%s", second)
	}
	if _, err := p.Traverse(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, pagetest.Snapshot(t, p), "Other"), input.ClickOptions{}))
	pagetest.Fails[*frame.TargetError](t, p, p.Input().Click("e99999999", input.ClickOptions{}), "")
}

// A search in frames does not report a closed page if a frame of the previous document,
// from another site, has ended.
func TestSelectorsAfterFramesOfOtherSites(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		pagetest.Navigate(t, p, fmt.Sprintf("%s/page%d", url, i))
		pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
		pagetest.Contains(t, pagetest.Snapshot(t, p), "page", "outer", `button "inner"`)
	}
}

// A selector matches in shadow roots, as Playwright's selectors do.
func TestSelectorsThroughShadowRoots(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><my-app id=one></my-app><my-app id=two></my-app>
<p title="a, b"><b>light</b></p><script>
customElements.define('my-app', class extends HTMLElement {
constructor() { super(); this.attachShadow({mode: 'open'})
  .innerHTML = '<div class=bar><my-button></my-button></div>' } });
customElements.define('my-button', class extends HTMLElement { constructor() {
  super(); const r = this.attachShadow({mode: 'open'}); r.innerHTML = '<span><button>Go</button></span>';
r.querySelector('button').onclick = () => document.title = 'went ' + this.getRootNode().host.id } })</script>`)
	for selector, want := range map[string]string{"#one button": "went one", "my-app#two .bar my-button > button": "",
		"#two .bar span > button": "went two", "my-app:nth-of-type(1) button": "went one"} {
		pagetest.Evaluate(t, p, "document.title = ''")
		_, err := p.Act(t.Context(), p.Input().Click(selector, input.ClickOptions{Timeout: 300 * time.Millisecond}))
		if got := pagetest.Evaluate(t, p, "document.title"); got != `"`+want+`"` || (err == nil) != (want != "") {
			t.Errorf("%s: %s %v", selector, got, err)
		}
	}
	pagetest.Act(t, p, p.Input().Click(`p[title="a, b"] b`, input.ClickOptions{}))
	pagetest.Fails[error](t, p, p.Input().Click("my-app button", input.ClickOptions{}), "matches 2 elements")
}

// A text that is the same as an element's counts before those that contain it.
func TestTextThatIsTheSame(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<button onclick="document.title='B10'">B10</button><button onclick="document.title='B100'">B100</button>
<table><tr><td onclick="document.title='21'">21</td></tr><tr><td>1</td><td>2</td><td>13</td></tr></table>`)
	for _, text := range []string{"B10", "21"} {
		pagetest.Act(t, p, p.Input().Click("text="+text, input.ClickOptions{}))
		pagetest.Expect(t, p, "document.title", strconv.Quote(text))
	}
	pagetest.Act(t, p, p.Input().Click("text=B10 >> nth=1", input.ClickOptions{})) // an index counts all
	pagetest.Expect(t, p, "document.title", `"B100"`)
}

// A text, or a role and a name, is a target too, also in a shadow root and of an element
// that comes late.
func TestSelectorsOfWords(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><main><p>Please <b>save</b> the form.</p>
<button onclick="did='all'">Save all</button><button onclick="did='save'">Save</button>
<button style="display:none">Save</button><input type=submit value="Send it" onclick="did='send'">
<label>Coupon <input id=c data-testid=code placeholder="TEA10"></label>
<a href="#x" onclick="did='more'">Read more</a><a href="#x">Read less</a></main>
<div role=grid><div role=row><div role=columnheader onclick="did='header'">Amount</div>
<div role=gridcell onclick="did='cell'">Chair</div></div></div>
<ul><li class="md:visible" onclick="did='item'">Item</ul>
<p onclick="did='part'">1) Part of a 15" screen</p><form><input name=children type=hidden>
<button type=button onclick="did='book'">Book</button></form><div role=option onclick="did='option'">albert</div>
<div id=h></div><script>did='';
h.attachShadow({mode:'open'}).innerHTML = '<button onclick="did=\'shadow\'">In the "shadow"</button>';
setTimeout(() => document.body.insertAdjacentHTML('beforeend',
  '<button onclick="did=\'late\'">Late</button>'), 300)</script>`)
	for target, want := range map[string]string{
		`role=button[name="Save"]`: "save", `button "Save"`: "save", `button "save all"`: "all", "text=Save all": "all",
		`text="Send it"`:                   "send",
		`role=columnheader[name="Amount"]`: "header", `role=gridcell[name="Chair"]`: "cell",
		`getByRole("cell", { name: "Chair" })`: "cell", "role=listitem[name=Item]": "item",
		"role=option[name=albert]": "option",
		"text=Save all >> nth=0":   "all", "button >> nth=0": "all", "role=link >> nth=0": "more",
		`button:has-text("save all")`: "all", `//button[text()="Save"]`: "save", `xpath=//button[text()="Save"]`: "save",
		`getByRole('button', { name: 'Save' })`: "save", `page.getByText("Send it", { exact: true })`: "send",
		`getByRole("button", { name: /^save$/i })`: "save", `getByRole('button', { name: 'Save', exact: true })`: "save",
		"getByRole('button', { name: `Save all` })": "all",
		`getByRole('link').first()`:                 "more", `page.locator("button").nth(0)`: "all",
		`main:has-text("Please") > button:has-text("Save"):visible >> nth=1`: "save", `main >> text="Save"`: "save",
		`main >> button >> nth=0`: "all", `main button:text-is("save")`: "save",
		`p:has-text("nothing"), button:text("Save all")`: "all", "text=/^save ALL$/i": "all", `getByText(/^Save$/)`: "save",
		`main:has-text("form") a:visible >> nth=0`: "more", "#h >> role=button": "shadow",
		"css=main > button >> nth=0": "all", `aria/Save`: "save", `aria/Save all[role="button"]`: "all",
		"text/Send it": "send", `xpath///button[text()="Save"]`: "save", `pierce/#h button`: "shadow",
		`.md\:visible`: "item", `button >> text="Save"`: "save", `text=1) Part >> nth=0`: "part",
		`text=15" screen >> nth=0`: "part", `:text("Book")`: "book",
		`#h:visible button`: "shadow", `button.none:visible, [data-x=":visible"], li:visible`: "item",
		"text=read more": "more", `role=link[name='more']`: "more", `button "In the \"shadow\""`: "shadow",
		`role=button[name="Late"]`: "late",
	} {
		pagetest.Evaluate(t, p, "did = ''")
		if _, err := p.Act(t.Context(), p.Input().Click(target, input.ClickOptions{})); err != nil {
			t.Errorf("%s: %v", target, err)
		} else if got := pagetest.Evaluate(t, p, "did"); got != `"`+want+`"` {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	for _, target := range []string{`textbox "Coupon"`, `getByLabel("coupon")`, `getByTestId('code')`,
		`getByPlaceholder("tea")`, "placeholder=tea", `placeholder="TEA10"`, "id=c", "data-testid=code", "aria/Coupon"} {
		pagetest.Act(t, p, p.Input().Type(target, target, input.TypeOptions{}))
		pagetest.Expect(t, p, "c.value == "+strconv.Quote(target), "true")
	}
	for target, want := range map[string]string{
		`getByRole("button", { name: /nothing/ })`:           "matches no element",
		`getByRole("button", { name: "save", exact: true })`: "matches no element",
		`getByRole("button", { disabled: true })`:            "not known",
		`getByRole("heading", { level: 3, name: "x" })`:      "not known",
		"role=link": `matches 2 elements (link "Read more" [ref=e5], link "Read less" [ref=e6]): make it unique`,
		"Save all":  `matches no element: text=Save all is button "Save all"`,
		"Coupon":    `matches no element: give textbox "Coupon"`, "button:not(:visible)": "neither a ref nor a selector",
		"text=/(/": "not known", "nth=0": "neither a ref", "main:visible + p": "neither a ref",
		"text=nowhere": "matches no element", "aria/sav": "matches no element", `placeholder="tea"`: "matches no element",
		`role=[name="x"]`: `text=Save or role=button[name="Save"]`,
	} {
		if _, err := p.Reader().HTML(t.Context(), target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}

// A selector that matches in two frames is as unclear as one that matches twice in a document.
// A ref of a document that is gone is not explained by another frame's.
func TestSameFieldInTwoFrames(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><iframe srcdoc="<input id=card aria-label=Card>"></iframe>
<iframe id=second srcdoc="<input id=card aria-label=Card><input id=other>"></iframe>`)
	text := pagetest.Snapshot(t, p)
	for _, target := range []string{"#card", `textbox "Card"`} {
		pagetest.Fails[*frame.TargetError](t, p, p.Input().Type(target, "x", input.TypeOptions{}), "several frames")
	}
	pagetest.Act(t, p, p.Input().Type("#other", "x", input.TypeOptions{}))
	ref := pagetest.Ref(t, text[strings.LastIndex(text, "iframe"):], "Card")
	pagetest.Evaluate(t, p, `new Promise((done) => { second.onload = done; second.srcdoc = "Posted" })`)
	if _, err := p.Act(t.Context(), p.Input().Type(ref, "x", input.TypeOptions{})); err == nil ||
		strings.Contains(err.Error(), "looks the same") {
		t.Error(err)
	}
}
