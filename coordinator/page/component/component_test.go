package component_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/component"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// of is the component of an element of the page.
func of(t *testing.T, p *page.Page, target string) *component.Component {
	t.Helper()
	r, err := p.Inspector().Inspect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return r.Component
}

// Development builds report name, owners, source, props and state, as they are after a change.
func TestFrameworks(t *testing.T) {
	longtest.Require(t)
	built, sources := t.TempDir(), "../../../internal/frameworks"
	if out, err := exec.Command("node", filepath.Join(sources, "build.mjs"), built).CombinedOutput(); err != nil {
		t.Fatalf("go tool task setup:frameworks installs what the build needs: %v: %s", err, out)
	}
	folder, err := filepath.Abs(sources)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if filepath.Ext(r.URL.Path) != "" {
			http.FileServer(http.Dir(built)).ServeHTTP(w, r)
			return
		}
		fmt.Fprintf(w, "<!doctype html><div id=root></div><script type=module src=%s.js></script>", r.URL.Path)
	}))
	t.Cleanup(server.Close)
	const vueProps = `props: {amount: 4, label: "Tea"}`
	b := pagetest.ConnectWith(t, &page.Options{Folders: []string{folder}})
	for name, want := range map[string]struct {
		text, name, place  string
		owners, props, was []string
		state              []string // after a click
	}{
		"react": {
			"Tea 4", "Price", "src/react.jsx:9:10", []string{"Cart"},
			[]string{"amount: 4", `label: "Tea"`, "onPick: ƒ onPick"},
			[]string{"useState: 0", "useReducer: 10", `useRef: "shown"`},
			[]string{"useState: 1", "useReducer: 15", `useRef: "shown"`},
		},
		"vue": {
			"Tea 4 false", "Price", "src/Price.vue", []string{"Cart"},
			[]string{"amount: 4", `label: "Tea"`},
			[]string{vueProps, "count: 0", "options: {gift: false}", "total: 4"},
			[]string{vueProps, "count: 1", "options: {gift: false}", "total: 5"},
		},
		"svelte": {"Tea 4", "Price", "src/Price.svelte:6:1", []string{"Cart"}, nil, nil, nil},
		"angular": {
			"Tea 4", "Price", "src/angular.ts:6", []string{"Cart", "Shop"},
			[]string{"cost: 4", `label: "Tea"`},
			[]string{"count: 0", "total: 4"}, []string{"count: 1", "total: 5"},
		},
		"lit": {
			"Tea 4", "TeaPrice", "", []string{"TeaCart"},
			[]string{"amount: 4", `label: "Tea"`}, []string{"count: 0"}, []string{"count: 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pagetest.NewPage(t, b)
			pagetest.Navigate(t, p, server.URL+"/"+name)
			pagetest.WaitFor(t, p, page.WaitOptions{Text: want.text})
			is := of(t, p, "button")
			if is == nil || is.Name != want.name || is.Place != want.place || !slices.Equal(is.Owners, want.owners) ||
				!slices.Equal(is.Props, want.props) || !slices.Equal(is.State, want.was) {
				t.Errorf("%#v", is)
			}
			// React then shows the other of its two fibers.
			pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
			if is = of(t, p, "button"); is == nil || !slices.Equal(is.State, want.state) {
				t.Errorf("after a click: %#v", is)
			}
		})
	}
}

// What frameworks keep is the page's: none of its getters runs, and it is bounded.
func TestHostileComponents(t *testing.T) {
	t.Parallel()
	const trap = `const trap = { get() { ran++; return {} }, enumerable: true };`
	for name, test := range map[string]struct {
		script, found string
		props, state  []string
	}{
		"React, getters": {trap + `const type = Object.defineProperty(function Price() {}, "displayName", trap);
const list = Object.defineProperty(["useState"], "filter", trap);
const error = Object.create(Error.prototype, { stack: trap });
e.__reactFiber$1 = Object.defineProperties({
  type, memoizedProps: Object.defineProperty({}, "secret", trap), memoizedState: { next: null, memoizedState: 1 },
  _debugHookTypes: list, _debugStack: error,
}, { return: trap, _debugOwner: trap });`,
			"Price", []string{"secret: (getter)"}, []string{"useState: 1"}},
		"React, an endless list": {`
const f = { type: function Loop() {}, memoizedProps: { a: "x".repeat(1e6), b: Array(1e5).fill({}) } };
f.return = f; f.alternate = null; e.__reactFiber$1 = f;
f.memoizedState = { queue: {}, memoizedState: 1 }; f.memoizedState.next = f.memoizedState;`, "Loop", nil, nil},
		"React, endless without names": {`const f = {}; f.return = f; e.__reactFiber$1 = f;`, "", nil, nil},
		"React, endless siblings": {`const root = { child: {} }; root.child.sibling = root.child;
e.__reactFiber$1 = { type: function Price() {}, return: root, alternate: {} };`, "Price", nil, nil},
		"React, endless siblings at each level": {`let f = null;
for (let i = 0; i < 2000; i++) { const child = {}; child.sibling = child; f = { child, return: f, alternate: {} }; }
e.__reactFiber$1 = { type: function Price() {}, return: f, alternate: {} };`, "Price", nil, nil},
		"Vue, odd kinds": {`e.__vueParentComponent = { type: 5, parent: "x", props: 7, setupState: null };`, "", nil, nil},
		"Svelte, an endless list": {`const parent = { type: "if" }; parent.parent = parent;
e.__svelte_meta = { loc: { file: "src/Price.svelte" }, parent };`, "Price", nil, nil},
		"Lit, getters": {trap + `function Price() {}; Price._$litElement$ = true;
const properties = new Map([["secret", {}], [{ toString: trap.get }, {}]]);
Price.elementProperties = Object.defineProperty(properties, Symbol.iterator, trap);
e.constructor = Price; Object.defineProperty(e, "secret", trap);`, "Price", []string{"secret: (getter)"}, nil},
		"Angular, without a mark": {trap + `ng = { getComponent: trap.get, getOwningComponent: trap.get };
Object.defineProperty(e, "__ngContext__", trap);`, "", nil, nil},
		"Angular, getters of functions": {trap + `e.__ngContext__ = 1;
ng = Object.defineProperties({}, { getComponent: trap, getOwningComponent: trap });`, "", nil, nil},
		"Angular, a getter of all": {trap + `e.__ngContext__ = 1;
Object.defineProperty(globalThis, "ng", trap);`, "", nil, nil},
		"Angular, a component with getters": {trap + `e.__ngContext__ = 1; class Price { amount = 1 };
Object.defineProperty(Price, "ɵcmp", trap);
const c = Object.defineProperties(new Price(), { secret: trap, paid: trap });
const inputs = Object.defineProperty({ paid: "paid" }, "other", trap);
ng = { getComponent: () => c, getHostElement() { throw 1 }, getDirectiveMetadata: () => ({ inputs }) };`,
			"Price", []string{"paid: (getter)", "other: (getter)"}, []string{"amount: 1", "secret: (getter)"}},
		"Angular, an endless list": {`e.__ngContext__ = 1;
class Loop { a = "x".repeat(1e6); b = Array(1e5).fill({}) };
const c = new Loop(), inputs = {};
for (let i = 0; i < 1e4; i++) inputs["i" + i] = "i".repeat(1000), c["f" + i] = i;
ng = {
  getComponent: () => c, getHostElement: () => e, getOwningComponent: () => c,
  getDirectiveMetadata: () => ({ inputs }),
};`, "Loop", nil, nil},
		"Angular, endless ancestors": {`e.__ngContext__ = 1;
ng = { getComponent(x) { const p = document.createElement("p"); x.replaceWith(p); p.append(x) } };`, "", nil, nil},
		"Angular, odd kinds": {`e.__ngContext__ = 1; ng = { getComponent: 1, getOwningComponent: () => "x" };`, "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := pagetest.Open(t, `<!doctype html><button>Buy</button><script>ran = 0;
{ const e = document.querySelector("button"); `+test.script+`}</script>`)
			c := of(t, p, "button")
			pagetest.Expect(t, p, "ran", "0")
			if c == nil {
				c = &component.Component{}
			}
			if len(fmt.Sprint(*c)) > 20_000 || len(c.Owners) > 8 || c.Name != test.found {
				t.Errorf("%d bytes: %.500s", len(fmt.Sprint(*c)), fmt.Sprint(*c))
			}
			if test.props != nil && !slices.Equal(c.Props, test.props) ||
				test.state != nil && !slices.Equal(c.State, test.state) {
				t.Errorf("%+v", c)
			}
		})
	}
}
