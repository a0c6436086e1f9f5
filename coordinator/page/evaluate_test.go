package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-x'")
		fmt.Fprint(w, `<!doctype html><title>Tight</title><button id=b>Öl "x"</button>
<script nonce=x>own = 7; Array.prototype.map = null; Element.prototype.querySelector = null</script>`)
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
		{"() => undefined", "", "undefined"},
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
		got, _, err := p.Evaluate(t.Context(), test.script, test.target, page.Bounds{})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s %v, want %s", test.script, got, err, test.want)
		}
	}
	var script *page.ScriptError
	for _, bad := range []string{"() => nothing.here", "() => { throw 'text' }",
		"async () => { throw new Error('later') }", "((", "Promise.reject(new RangeError('far'))"} {
		if _, _, err := p.Evaluate(t.Context(), bad, "", page.Bounds{}); !errors.As(err, &script) {
			t.Errorf("%s: %v", bad, err)
		} else {
			t.Log(err)
		}
	}
	// None of this prevents snapshots and clicks.
	text := pagetest.Snapshot(t, p)
	pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, text, "Öl"), input.ClickOptions{}))
}

// The result of a script is JSON, or JavaScript's own text for values that JSON lacks.
func TestEvaluateValues(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>
<title>values</title><p id=p class=c>Some <b>text</b></p><iframe id=f src="data:text/html,x"></iframe>
<script>Array.prototype.toJSON = Object.prototype.own = undefined; delete Object.prototype.own</script>`)
	for _, test := range []struct{ script, want string }{
		{"new Date(0)", `"1970-01-01T00:00:00.000Z"`},
		{"[new Date(NaN)]", `["Invalid Date"]`},
		{"new TypeError('bad')", `"TypeError: bad"`},
		{"({e: new DOMException('no', 'AbortError')})", `{"e":"AbortError: no"}`},
		{"document.querySelector('#p')", `"<p id=\"p\" class=\"c\">Some text"`},
		{"document.querySelectorAll('p, b')", `["<p id=\"p\" class=\"c\">Some text","<b>text"]`},
		{"p.firstChild", `"#text Some"`},
		{"document.body", `"<body>Some text"`},
		{"new Map([['a', 1], ['b', {c: 2}]])", `{"a":1,"b":{"c":2}}`},
		{"new Map([[1, 2]])", `[[1,2]]`},
		{"({s: new Set([1, 'x'])})", `{"s":[1,"x"]}`},
		{"(() => { const a = {n: 1}; a.self = a; a.list = [a]; return a })()", `{"n":1,"self":"[cycle]","list":["[cycle]"]}`},
		{"(() => { const a = {n: 1}; return [a, a] })()", `[{"n":1},{"n":1}]`},
		{"window", `"[Window]"`},
		{"[f.contentWindow]", `["[Window]"]`},
		{"Symbol('x')", `"Symbol(x)"`},
		{"[10n, -0, NaN, Infinity, undefined, null, true, /a/g, () => 1]",
			`["10n",0,"NaN","Infinity",null,null,true,"/a/g",null]`},
		{"({u: undefined, f() {}, 'ä\"': 'ö\\n'})", `{"ä\"":"ö\n"}`},
		{"new Uint8Array([1, 2])", "[1,2]"},
		{"new DOMRect(1, 2, 3, 4)", `{"x":1,"y":2,"width":3,"height":4,"top":2,"right":4,"bottom":6,"left":1}`},
		{"new URL('http://a/b')", `"http://a/b"`},
		{"({get bad() { throw new Error('not now') }, ok: 1})", `{"bad":"[Error: not now]","ok":1}`},
		{"[Promise.resolve(1)]", `["[Promise]"]`},
		{"p.classList", `["c"]`},
		{"new Proxy({}, {ownKeys() { throw 'no' }})", `"[no]"`},
		{"null", "null"},
	} {
		pagetest.Expect(t, p, test.script, test.want)
	}
	if got := pagetest.Evaluate(t, p, "new File(['abc'], 'a.txt')"); !strings.Contains(got, `"name":"a.txt"`) ||
		!strings.Contains(got, `"size":3`) {
		t.Errorf("a file: %s", got)
	}
	deep := pagetest.Evaluate(t, p, "(() => { let a = {}; for (let i = 0; i < 5000; i++) a = {a, b: a}; return a })()")
	if len(deep) > 10<<20 || !strings.Contains(deep, "…") {
		t.Errorf("what has no end to speak of: %d bytes", len(deep))
	}
}

// What a page has in place of the language's own does not spoil the result of a script.
func TestEvaluateInPatchedPage(t *testing.T) {
	t.Parallel()
	for _, replaced := range []string{
		"Set = class {}", "Map = class {}", "Set.prototype.has = Set.prototype.add = null", "JSON.stringify = null",
		"JSON = {}", "String = null", "Array.from = null", "Object.keys = () => { throw 1 }", "Object.getPrototypeOf = null",
		"Object.getOwnPropertyDescriptor = null", "Function.prototype.call = null", "Array.isArray = () => null.x",
		"Object.prototype.toString = null", "String.prototype.slice = null", "RegExp.prototype.test = null",
		"Array.prototype[Symbol.iterator] = null", "Symbol = null", "Node = class {}",
	} {
		t.Run(replaced, func(t *testing.T) {
			t.Parallel()
			p, _ := pagetest.Open(t, "<!doctype html>")
			pagetest.Evaluate(t, p, replaced+"; 0")
			pagetest.Expect(t, p, "({a: [1, {b: 'x'}], c: null, d: true})", `{"a":[1,{"b":"x"}],"c":null,"d":true}`)
			if _, _, err := p.Evaluate(t.Context(), "(() => { const a = {}; a.a = a; return a })()", "", page.Bounds{}); err != nil {
				t.Errorf("a cycle: %v", err)
			}
		})
	}
}

// A script is an action: its result reports what it changed, even if the script itself
// was cut off.
func TestEvaluateChanges(t *testing.T) { // alone in the browser, because it counts tabs
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<title>%s</title><form action=/form><input name=q></form><p id=p>p", r.URL.Path)
	}))
	for _, test := range []struct{ script, target, value, path string }{
		{"() => { location.href = '/href'; return 1 }", "", "1", "/href"},
		{"async () => { location.href = '/left'; await new Promise(() => {}) }", "", "", "/left"},
		{"(e) => { location.href = '/target'; return new Promise(() => {}) }", "#p", "", "/target"},
		{"() => { document.forms[0].submit() }", "", "undefined", "/form?q="},
		{"() => { history.pushState(0, '', '/pushed'); document.title = '/pushed' }", "", "undefined", "/pushed"},
	} {
		v, c, err := p.Evaluate(t.Context(), test.script, test.target, page.Bounds{})
		title, _, _ := strings.Cut(test.path, "?")
		if err != nil || string(v) != test.value || !c.Navigated || c.URL != url+test.path || c.Title != title {
			t.Errorf("%s: %s %+v %v", test.script, v, c, err)
		}
	}
	v, c, err := p.Evaluate(t.Context(), "() => { console.error('oh'); "+
		"window.open('/popup'); return {a: 1} }", "", page.Bounds{})
	if err != nil || string(v) != `{"a":1}` || len(c.Tabs.Open) != 1 || len(c.Console) != 1 || c.Navigated {
		t.Errorf("a tab and an error: %s %+v %v", v, c, err)
	}
	for _, info := range c.Tabs.Open {
		_ = b.ClosePage(t.Context(), info.ID)
	}
}

// The body of a function is a valid script.
func TestEvaluateBody(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<p id=p class=c>p<button>b</button><script>runs = 0</script>`)
	for _, test := range []struct{ script, target, want string }{
		{"return 5", "", "5"},
		{"const n = await Promise.resolve(2); runs++; return [n, runs]", "", "[2,1]"},
		{"if (runs) return element.className; return 0", "#p", `"c"`},
		{"[1].map(function (n) { return n })", "", "[1]"},
		{"element.className.replace(/c/, function () { return 'd' })", "#p", `"d"`},
	} {
		got, _, err := p.Evaluate(t.Context(), test.script, test.target, page.Bounds{})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s %v", test.script, got, err)
		}
	}
	// A script that has run is not run again.
	if _, _, err := p.Evaluate(t.Context(), "runs = 10; runs++; eval('return')", "", page.Bounds{}); err == nil ||
		pagetest.Evaluate(t, p, "runs") != "11" {
		t.Errorf("%v, %s runs", err, pagetest.Evaluate(t, p, "runs"))
	}
	var target *frame.TargetError
	if _, err := p.Act(t.Context(), p.Input().Type("button", "x", input.TypeOptions{})); !errors.As(err, &target) ||
		!strings.Contains(err.Error(), "is a <button>, which takes no text") {
		t.Errorf("typing into a button: %v", err)
	}
	tooWide := emulation.Settings{Viewport: &emulation.Viewport{Width: 99999, Height: 10}}
	if _, err := p.Emulate(t.Context(), tooWide); err == nil || !strings.Contains(err.Error(), "10000") {
		t.Errorf("%v", err)
	}
}

// A script does nothing in a document at another place than that for which it was allowed, even if the
// page there replaces what scripts use.
func TestEvaluateAtPlace(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, "<title>Shop</title>")
	const impostor = `data:text/html,<title>ä "b"</title><script>String.prototype.split = () => ["about:blank"]</script>`
	for _, address := range []string{url + "/?a#b", "about:blank#b", "about:blank#", impostor + "#c"} {
		pagetest.Navigate(t, p, address)
		here := p.Place()
		for _, place := range []string{"", here, url, "about:blank", "data:text/html,"} {
			for _, script := range []string{"1", "() => 1", "const one = await 1; one", "return 1"} {
				value, _, err := p.Evaluate(t.Context(), script, "", page.Bounds{Place: place})
				if allowed := place == "" || place == here; allowed && (err != nil || string(value) != "1") ||
					!allowed && (err == nil || !strings.Contains(err.Error(), "threw the page has gone to another site")) {
					t.Errorf("%s in %s, allowed in %q: %s, %v", script, here, place, value, err)
				}
			}
		}
	}
}
