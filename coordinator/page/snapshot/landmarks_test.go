package snapshot_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// siteOf has pages with a common header and footer; the links of the header report to each page
// which of them was clicked.
func siteOf(w http.ResponseWriter, r *http.Request) {
	current := func(path string) string {
		if r.URL.Path == path {
			return " aria-current=page"
		}
		return ""
	}
	cart := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("cart"), &cart)
	nav := ""
	for _, name := range []string{"Tea", "Cups", "Pots", "Kettles", "Sugar", "Milk"} {
		nav += fmt.Sprintf("<li><a href=/%[1]s%[2]s onclick='said.textContent = event.target.textContent; "+
			"return false'>%[1]s</a>", name, current("/"+name))
	}
	if r.URL.Path == "/swapped" {
		nav = strings.NewReplacer("Cups", "Pots", "Pots", "Cups").Replace(nav)
	}
	fmt.Fprintf(w, `<!doctype html><title>Shop</title><header><a href=/>Shop</a><p>Cart: %d</p><button id=cart
  onclick="this.previousElementSibling.textContent = 'Cart: 1'">Add one thing to the cart</button></header>
<nav aria-label=Main><ul>%s</ul></nav><main><h1>%s</h1><p id=said>Nothing</p><a href=/other>Other</a></main>
<footer><p>Shop Ltd., London</p><a href=/terms>Terms and conditions</a> <a
  href=/imprint>Imprint and contact</a></footer>`, cart, nav, r.URL.Path)
}

// At a navigation within a site, what its pages share is one line if it is as it was, and its refs
// are those that the agent knows.
func TestLandmarksAsBefore(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(siteOf))
	look := func(path string) string {
		t.Helper()
		pagetest.Navigate(t, p, path)
		return p.Look(t.Context()).Text
	}
	refs := regexp.MustCompile(`\[ref=e\d+\]`)
	first := look(url + "/a")
	pots := pagetest.Ref(t, first, "Pots")
	pagetest.Contains(t, first, `- banner:`, `- navigation "Main":`, `- contentinfo:`)
	if strings.Contains(first, "\x06") {
		t.Errorf("%q", first)
	}
	second := look(url + "/b")
	if got, want := refs.ReplaceAllString(second, "#"), `- banner #: as before (4 lines)
- navigation "Main" #: as before (8 lines)
- main:
  - heading "/b" [level=1]
  - Nothing
  - link "Other" # [url=/other]
- contentinfo #: as before (3 lines)
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	click := func(ref, name string) {
		t.Helper()
		pagetest.Act(t, p, p.Input().Click(ref, input.ClickOptions{}))
		pagetest.Contains(t, p.Look(t.Context()).Text, "+   - "+name+"\n")
	}
	click(pots, "Pots")
	ref := pagetest.Ref(t, second, "Main")
	part, err := p.Reader().Snapshot(t.Context(), snapshot.Options{Target: ref})
	if err != nil || pagetest.Ref(t, part.Text, "Pots") != pots || strings.Count(part.Text, "\n") != 8 {
		t.Errorf("%s %v", part.Text, err)
	}
	whole := pagetest.Snapshot(t, p)
	pagetest.Contains(t, whole, `- banner:`, "Terms")
	if pagetest.Ref(t, whole, "Pots") != pots {
		t.Errorf("not %s: %s", pots, whole)
	}

	// The link of the page is current; what has another state is named.
	got := refs.ReplaceAllString(look(url+"/Tea"), "#")
	if !strings.Contains(got, `- navigation "Main" #: as before (8 lines), but for:
  - link "Tea" [current] # [url=/Tea]
- main:`) {
		t.Error(got)
	}
	got = refs.ReplaceAllString(look(url+"/Cups"), "#")
	if !strings.Contains(got, `but for:
  - link "Tea" # [url=/Tea]
  - link "Cups" [current] # [url=/Cups]
- main:`) {
		t.Error(got)
	}
	click(pots, "Pots")

	// Other lines, in another order, are printed, with refs of their own.
	swapped := look(url + "/swapped")
	if now := pagetest.Ref(t, swapped, "Pots"); now == pots || strings.Contains(swapped, `"Main" [ref`) {
		t.Errorf("%s", swapped)
	}
	pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(pots, input.ClickOptions{}), "its document was replaced")
	pagetest.Contains(t, look(url+"/c?cart=2"), "Cart: 2", `contentinfo [ref`)

	// What the agent was shown as a change is what was before.
	pagetest.Contains(t, look(url+"/d"), "- banner:", "Cart: 0")
	pagetest.Act(t, p, p.Input().Click("#cart", input.ClickOptions{}))
	if got := p.Look(t.Context()).Text; got != "  - banner:\n-   - Cart: 0\n+   - Cart: 1\n" {
		t.Errorf("%q", got)
	}
	pagetest.Contains(t, look(url+"/e"), "- banner:", "Cart: 0", `contentinfo [ref`)

	// Another origin has nothing that was shown before, nor has the way back from it.
	elsewhere := strings.Replace(url, "127.0.0.1", "localhost", 1)
	for _, origin := range []string{elsewhere, url} {
		if text := look(origin + "/a"); strings.Contains(text, "as before") {
			t.Errorf("%s: %s", origin, text)
		}
	}
}

// A document that comes back from the page cache has its own refs, and those that went on to
// the next one.
func TestLandmarksAfterBack(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(siteOf))
	pagetest.Navigate(t, p, url+"/a")
	first := p.Look(t.Context()).Text
	pots, other := pagetest.Ref(t, first, "Pots"), pagetest.Ref(t, first, "Other")
	pagetest.Navigate(t, p, url+"/swapped")
	swapped := pagetest.Ref(t, p.Look(t.Context()).Text, "Pots")
	if _, err := p.Traverse(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	text := p.Look(t.Context()).Text
	if now := pagetest.Ref(t, pagetest.Snapshot(t, p), "Pots"); now == swapped {
		t.Errorf("%s in %s", now, text)
	}
	pagetest.Act(t, p, p.Input().Click(pots, input.ClickOptions{}))
	pagetest.Contains(t, p.Look(t.Context()).Text, "+   - Pots\n")
	if _, err := p.Traverse(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	text = p.Look(t.Context()).Text
	pagetest.Act(t, p, p.Input().Click(swapped, input.ClickOptions{}))
	if changes := p.Look(t.Context()); !strings.Contains(changes.Text, "+   - Pots\n") {
		t.Errorf("%+v after %s", changes, text)
	}
	pagetest.Fails[*frame.StaleRefError](t, p, p.Input().Click(other, input.ClickOptions{}), "its document was replaced")
}

// What is in frames, or was not shown whole, is not as before.
func TestLandmarksThatWereNotShown(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/frame":
			siteOf(w, r)
		case strings.HasPrefix(r.URL.Path, "/long"):
			io.WriteString(w, `<!doctype html><h1>`+r.URL.Path+`</h1><nav>`+
				strings.Repeat("<a href=/x>A link with a long name, which fills the beginning</a> ", 40)+`</nav>`)
		case strings.HasPrefix(r.URL.Path, "/huge"):
			io.WriteString(w, `<!doctype html><nav>`+strings.Repeat("<a href=/x>A</a><br>", 400)+`</nav>`)
		default:
			io.WriteString(w, `<!doctype html><h1>`+r.URL.Path+`</h1>
<header><iframe src=/frame></iframe><a href=/x>One more link in the header</a> <a href=/y>And another one</a></header>`)
		}
	}))
	for _, path := range []string{"/long", "/huge", "/framed"} {
		for _, n := range []string{"1", "2"} {
			pagetest.Navigate(t, p, url+path+n)
			pagetest.WaitFor(t, p, page.WaitOptions{Expression: "document.readyState == 'complete'"})
			if text := p.Look(t.Context()).Text; strings.Contains(text, "as before") || strings.Contains(text, "\x06") {
				t.Errorf("%s: %q", path, text)
			}
		}
	}
}
