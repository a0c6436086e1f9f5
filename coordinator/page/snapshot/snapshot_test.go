package snapshot_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// The page for comparison with other tools: half of the smallest output of those tools is
// 19,441 characters, with a ref for each of the 800 controls.
func TestSnapshotIsDense(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><ul id=l></ul>
<script>let h='';for(let i=0;i<400;i++)h+='<li><a href=#>Item '+i+'</a> <button onclick=1>Add '+i+'</button></li>';
l.innerHTML=h</script>`)
	for _, opts := range []snapshot.Options{{}, {Interactive: true}} {
		s, err := p.Reader().Snapshot(t.Context(), opts)
		if err != nil || s.Refs != 800 || strings.Count(s.Text, "[ref=e") != 800 || len(s.Text) > 19_441 {
			t.Errorf("%+v: %d refs in %d characters, %v", opts, s.Refs, len(s.Text), err)
		}
		pagetest.Contains(t, s.Text, `- link "Item 0" [ref=e1] | button "Add 0" [ref=e2]`+"\n",
			`- "Item 399" [ref=e799] | "Add 399" [ref=e800]`+"\n")
	}
}

// 10,000 elements; one of them changes.
func TestHugePage(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><div id=d></div><script>let h='';for(let i=0;
  i<2000;i++)h+='<section><h3>Part '+i+'</h3><p>Text of <b>part</b> '+i+'</p><button>Open '+i+'</button></section>';
d.innerHTML=h</script>`)
	if n := pagetest.Evaluate(t, p, "document.querySelectorAll('*').length"); len(n) != 5 || n < "10000" {
		t.Fatalf("only %s elements", n)
	}
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil || s.Refs != 2000 {
		t.Fatalf("%d refs, %v", s.Refs, err)
	}
	pagetest.Evaluate(t, p, "document.querySelectorAll('button')[1321].disabled = true")
	s, err = p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true})
	if want := "- - button \"Open 1321\" [ref=e1322]\n+ - button \"Open 1321\" [disabled] [ref=e1322]\n"; err != nil ||
		!s.Diff || s.Text != want {
		t.Errorf("the difference: %v\n%.2000s\nwant:\n%s", err, s.Text, want)
	}
	pagetest.Act(t, p, p.Input().Click("e2000", input.ClickOptions{}))
}

func TestSnapshotDiff(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><main aria-label=All><h1>Title</h1><ul id=l>
<li><a href=#>A</a> <button>Buy A</button><li><a href=#>B</a> <button>Buy B</button></ul><p id=m>Old words</p></main>`)
	take := func() snapshot.Snapshot {
		t.Helper()
		s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Diff: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := take(); s.Diff || !strings.Contains(s.Text, "Old words") {
		t.Errorf("the first one: %+v", s)
	}
	if s := take(); !s.Diff || s.Text != "" {
		t.Errorf("nothing has changed: %+v", s)
	}
	pagetest.Evaluate(t, p, `m.textContent = 'New words',
  l.insertAdjacentHTML('beforeend', '<li><a href=#>C</a> <button>Buy C</button>'), 1`)
	if s, want := take(), `  - main "All":
    - list:
      - link "A" [ref=e1] | button "Buy A" [ref=e2]
      - "B" [ref=e3] | "Buy B" [ref=e4]
+     - "C" [ref=e5] | "Buy C" [ref=e6]
-   - Old words
+   - New words
`; !s.Diff || s.Text != want {
		t.Errorf("got:\n%s\nwant:\n%s", s.Text, want)
	}
	// With other options or another document, there is no diff.
	if s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Interactive: true, Diff: true}); err != nil || s.Diff {
		t.Errorf("with other options: %+v %v", s, err)
	}
	pagetest.Navigate(t, p, url+"/again")
	if s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Interactive: true, Diff: true}); err != nil || s.Diff {
		t.Errorf("of another document: %+v %v", s, err)
	}
}

// Closed shadow roots of a custom element and of a plain one, a declared one, and a nested
// one: snapshots and clicks treat them as open.
func TestClosedShadowRoots(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><my-box>Slotted</my-box><div id=plain></div>
<div><template shadowrootmode=closed><button onclick="clicks.push('declared')">Declared</button></template></div>
<script>clicks = [];
const say = (root, name) => { root.innerHTML += '<button>' + name + '</button>';
  root.querySelector('button').onclick = () => clicks.push(name); };
customElements.define('my-box', class extends HTMLElement {
  constructor() { super(); const s = this.attachShadow({ mode: 'closed' });
  say(s, 'Outer'); s.append(document.createElement('slot'), document.createElement('my-inner')); } });
customElements.define('my-inner', class extends HTMLElement {
  constructor() { super(); say(this.attachShadow({ mode: 'closed' }), 'Inner'); } });
say(plain.attachShadow({ mode: 'closed' }), 'Plain');</script>`)
	}))
	text := pagetest.Snapshot(t, p)
	pagetest.Contains(t, text, "Slotted", `button "Outer"`, `button "Inner"`, `button "Plain"`, `button "Declared"`)
	for _, name := range []string{"Outer", "Inner", "Plain", "Declared"} {
		if _, err := p.Act(t.Context(), p.Input().Click(pagetest.Ref(t, text, name), input.ClickOptions{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	pagetest.Expect(t, p, "clicks.join()", `"Outer,Inner,Plain,declared"`)
	if second := pagetest.Snapshot(t, p); second != text && pagetest.Ref(t, second, "Inner") != pagetest.Ref(t, text,
		"Inner") {
		t.Errorf("refs changed:\n%s\n%s", text, second)
	}
}
