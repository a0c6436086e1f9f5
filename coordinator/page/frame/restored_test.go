package frame_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// framesOfAllKinds has frames of the same process and of others, nested ones, one that has
// navigated, one without an address, and two with the same name and the same button in it.
// Each button reports its clicks to the top document.
func framesOfAllKinds(w http.ResponseWriter, r *http.Request) {
	_, port, _ := strings.Cut(r.Host, ":")
	button := func(name string) string {
		return fmt.Sprintf(`<button onclick="top.postMessage('%[1]s','*')">%[1]s</button>`, name)
	}
	switch r.URL.Path {
	case "/":
		fmt.Fprintf(w, `<title>first</title><a href=/second>leave</a>
<iframe name=twin title=one src=/one></iframe><iframe name=twin title=two src=/two></iframe>
<iframe title=other src="http://localhost:%s/other"></iframe>
<iframe title=moved src=/before></iframe><iframe title=written></iframe>
<script>clicks=[]; addEventListener('message', e => clicks.push(e.data));
document.querySelector('[title=written]').contentDocument.body.innerHTML = %q</script>`, port, button("Written"))
	case "/one":
		fmt.Fprint(w, button("One"), `<button>Same</button><iframe src=/nested></iframe>`)
	case "/two":
		fmt.Fprint(w, button("Two"), `<button>Same</button>`)
	case "/other":
		fmt.Fprintf(w, `%s<iframe src="/deep"></iframe><iframe src="http://127.0.0.1:%s/home"></iframe>`, button("Other"),
			port)
	case "/nested", "/deep", "/home", "/after":
		name := strings.TrimPrefix(r.URL.Path, "/")
		fmt.Fprint(w, button(strings.ToUpper(name[:1])+name[1:]))
	case "/before":
		fmt.Fprint(w, `<a href=/after onclick="setTimeout(() => location = '/after'); return false">go on</a>`)
	default:
		fmt.Fprint(w, `<title>second</title><p>second<iframe src=/one></iframe>`)
	}
}

// The page cache brings a document back with its frames: they are shown, can be clicked, and
// their refs remain valid.
func TestFramesOfARestoredDocument(t *testing.T) {
	t.Parallel()
	names := []string{"One", "Two", "Nested", "Other", "Deep", "Home", "After", "Written"}
	for mode, back := range map[string]func(t *testing.T, p *page.Page){
		"back": func(t *testing.T, p *page.Page) {
			if _, err := p.Traverse(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		},
		"back, forward, back": func(t *testing.T, p *page.Page) {
			for _, back := range []bool{true, false, true} {
				if _, err := p.Traverse(t.Context(), back); err != nil {
					t.Fatal(err)
				}
			}
		},
		"history.back()": func(t *testing.T, p *page.Page) {
			pagetest.Evaluate(t, p, "setTimeout(() => history.back())")
			pagetest.WaitFor(t, p, page.WaitOptions{Text: "leave"})
		},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, url := pagetest.Serve(t, http.HandlerFunc(framesOfAllKinds))
			pagetest.Act(t, p, p.Input().Click("text=go on", input.ClickOptions{}))
			pagetest.WaitFor(t, p, page.WaitOptions{Text: "After"})
			pagetest.Evaluate(t, p, "marked = 'the same document'")
			before := pagetest.Snapshot(t, p)
			for _, name := range names {
				pagetest.Ref(t, before, `button "`+name+`"`)
			}
			pagetest.Navigate(t, p, url+"/second")
			pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(pagetest.Ref(t, before, `button "Two"`),
				input.ClickOptions{}), "")
			back(t, p)
			pagetest.Expect(t, p, "globalThis.marked", `"the same document"`)

			// Refs first, before a snapshot that would learn the frames.
			for _, name := range names {
				pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, before, `button "`+name+`"`),
					input.ClickOptions{Position: &frame.Point{X: 8, Y: 8}}))
			}
			second := pagetest.Snapshot(t, p)
			for _, name := range names {
				previous := pagetest.Ref(t, before, `button "`+name+`"`)
				if current := pagetest.Ref(t, second, `button "`+name+`"`); previous != current {
					t.Errorf("%s was %s, and is %s", name, previous, current)
				}
			}
			pagetest.Expect(t, p, "new Promise(r => { "+
				"const look = () => clicks.length < 8 ? setTimeout(look, 10) : r(clicks.join()); look() })",
				`"`+strings.Join(names, ",")+`"`)
			pagetest.Fails[*frame.TargetError](t, p, p.Input().Click("text=Same", input.ClickOptions{}), "several frames")
			value, _, err := p.Evaluate(t.Context(), "(e) => e.ownerDocument.defaultView.location.pathname",
				pagetest.Ref(t, second, `button "Deep"`), page.Bounds{})
			if err != nil || string(value) != `"/deep"` {
				t.Errorf("a script in a frame: %s %v", value, err)
			}
		})
	}
}
