// Package pagetest provides the tests of a page's capabilities with a real browser, and
// with pages that show the test's content.
package pagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/longtest"
)

// shared is the only browser of a test program; each test has its own connection and
// its own page in it.
var shared *chrome.Browser

// parallel is how many tests run at the same time, each in a tab of its own.
const parallel = "3"

// Main runs the tests of a package with a browser, and returns the exit code. The locks of pages are in
// a folder of theirs.
func Main(m *testing.M) int {
	flag.Parse()
	state, err := os.MkdirTemp("", "pagetest-")
	defer os.RemoveAll(state)
	if err := errors.Join(err, os.Setenv("XDG_STATE_HOME", state), flag.Set("test.parallel", parallel)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	browser, err := launch(chrome.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a browser:", err)
		return 1
	}
	shared = browser
	defer browser.Close(context.Background())
	return m.Run()
}

func launch(opts chrome.Options) (*chrome.Browser, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil, err
	}
	return launchProgram(found, opts)
}

func launchProgram(executable string, opts chrome.Options) (*chrome.Browser, error) {
	opts.Executable, opts.Headless, opts.Viewport = executable, !headed, "1000x800"
	opts.Args = append(opts.Args, "--disable-gpu", "--site-per-process")
	return chrome.Launch(context.Background(), opts)
}

// headed: the next browser has a window, see UseWindow.
var headed bool

// UseWindow makes a browser with a window on a display the shared one of a test, which must not be parallel.
func UseWindow(t *testing.T, display string) {
	t.Helper()
	t.Setenv("DISPLAY", display)
	headed = true
	defer func() { headed = false }()
	UseBrowser(t, chrome.Options{})
}

// Zoomed runs a test in a browser whose user has set every site to 125 %, and in its long
// form in one with a dense screen too. The calling test must not be parallel.
func Zoomed(t *testing.T, test func(*testing.T)) {
	profile := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", profile) // a browser with a permanent profile leaves crash reports there
	if err := os.Mkdir(filepath.Join(profile, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The level is the logarithm of 1.25 to the base 1.2; "x" is the default profile.
	preferences := []byte(`{"partition":{"default_zoom_level":{"x":1.2239010857415449}}}`)
	if err := os.WriteFile(filepath.Join(profile, "Default", "Preferences"), preferences, 0o600); err != nil {
		t.Fatal(err)
	}
	options := map[string]chrome.Options{
		"1.25": {UserDataDir: profile}, "1.5": {Args: []string{"--force-device-scale-factor=1.5"}},
	}
	for _, ratio := range longtest.Form(t, []string{"1.25"}, []string{"1.25", "1.5"}) {
		t.Run(ratio, func(t *testing.T) {
			UseBrowser(t, options[ratio])
			p, _ := Open(t, "<p>p")
			Expect(t, p, "devicePixelRatio", ratio)
			test(t)
		})
	}
}

// UseBrowser makes a browser with other options the shared one of a test, which must not be parallel.
func UseBrowser(t *testing.T, opts chrome.Options) {
	t.Helper()
	browser, err := launch(opts)
	if err != nil {
		t.Fatal(err)
	}
	before := shared
	shared = browser
	t.Cleanup(func() { shared = before; browser.Close(context.Background()) })
}

// Connect returns a connection to the shared browser, which has time: a machine that runs
// many tests at once may be busy.
func Connect(t testing.TB) *page.Browser {
	t.Helper()
	return ConnectWith(t, &page.Options{ActionTimeout: 4 * time.Second, CallTimeout: 30 * time.Second})
}

// URL is the CDP URL of the browser of the tests.
func URL() string { return shared.URL() }

// ConnectWith is Connect with other options.
func ConnectWith(t testing.TB, opts *page.Options) *page.Browser {
	t.Helper()
	b, err := page.Connect(t.Context(), shared.URL(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// NewPage returns a new page, which is closed at the end of the test.
func NewPage(t testing.TB, b *page.Browser) *page.Page {
	t.Helper()
	id, err := b.OpenTab(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Page(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.ClosePage(context.Background(), p.ID()) })
	return p
}

// Open shows the HTML on a new page.
func Open(t testing.TB, html string) (p *page.Page, url string) {
	t.Helper()
	return Serve(t, HTML(html))
}

// HTML responds to each request with that HTML.
func HTML(html string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, html) })
}

// Serve shows the root of a site on a new page. Its responses are HTML unless they say
// otherwise.
func Serve(t testing.TB, handler http.Handler) (p *page.Page, url string) {
	t.Helper()
	return ServeIn(t, Connect(t), handler)
}

// ServeIn is Serve through a connection of the test. The browser may request an icon at
// any time, so ServeIn handles that: an error would appear among the test's messages.
func ServeIn(t testing.TB, b *page.Browser, handler http.Handler) (p *page.Page, url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p = NewPage(t, b)
	Navigate(t, p, server.URL)
	return p, server.URL
}

// Act runs an action, which must succeed.
func Act(t testing.TB, p *page.Page, action input.Action) page.Change {
	t.Helper()
	c, err := p.Act(t.Context(), action)
	if err != nil {
		t.Fatalf("%s: %v", action.Operation, err)
	}
	return c
}

// Fails runs an action that must fail with such an error, which contains the text.
func Fails[E error](t testing.TB, p *page.Page, action input.Action, text string) {
	t.Helper()
	if c, err := p.Act(t.Context(), action); !errors.As(err, new(E)) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %+v, %v; want a %T that contains %q", action.Operation, c, err, *new(E), text)
	}
}

// Navigate opens an address, which must succeed.
func Navigate(t testing.TB, p *page.Page, address string) {
	t.Helper()
	if _, err := p.Navigate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
}

// WaitFor waits for conditions, which the page must meet.
func WaitFor(t testing.TB, p *page.Page, opts page.WaitOptions) {
	t.Helper()
	if _, err := p.WaitFor(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
}

// Attach attaches to a page through a further connection.
func Attach(t testing.TB, p *page.Page) *page.Page {
	t.Helper()
	attached, err := Connect(t).Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	return attached
}

// Expect checks the JSON of a script's result.
func Expect(t testing.TB, p *page.Page, script, want string) {
	t.Helper()
	if got := Evaluate(t, p, script); got != want {
		t.Errorf("%s\n is %s,\nwant %s", script, got, want)
	}
}

// Evaluate runs a script and returns its JSON.
func Evaluate(t testing.TB, p *page.Page, script string) string {
	t.Helper()
	v, _, err := p.Evaluate(t.Context(), script, "", page.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// Pixels photographs the viewport, and returns the colour at each point of it, in CSS pixels. The picture is
// as the screen has it: one of another scale has the overlay elsewhere.
func Pixels(t testing.TB, p *page.Page) (at func(x, y float64) color.RGBA) {
	t.Helper()
	shot, err := p.Screen().Screenshot(t.Context(), capture.Options{Device: true})
	if err != nil {
		t.Fatal(err)
	}
	picture := Decode(t, shot)
	return func(x, y float64) color.RGBA {
		return color.RGBAModel.Convert(picture.At(int(x*shot.Scale()), int(y*shot.Scale()))).(color.RGBA)
	}
}

// Decode returns the pixels of a screenshot.
func Decode(t testing.TB, shot capture.Image) image.Image {
	t.Helper()
	picture, _, err := image.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// Snapshot returns the text of a snapshot of the page.
func Snapshot(t testing.TB, p *page.Page) string {
	t.Helper()
	s, err := p.Reader().Snapshot(t.Context(), snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text
}

// Ref finds the ref on the line of a snapshot that contains the words.
func Ref(t testing.TB, text, words string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			if _, rest, ok := strings.Cut(line, "[ref="); ok {
				r, _, _ := strings.Cut(rest, "]")
				return r
			}
		}
	}
	t.Fatalf("no ref for %q in:\n%s", words, text)
	return ""
}

// Contains fails the test for each wanted text that the text lacks.
func Contains(t testing.TB, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

// Shadowable are the names of properties of forms, of other elements and of the document, and of what
// scripts of ours define: a page may give them to fields, images and ids.
func Shadowable(t testing.TB, p *page.Page) (names []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(Evaluate(t, p, shadowable)), &names); err != nil {
		t.Fatal(err)
	}
	if len(names) < 300 {
		t.Fatalf("only %d names: %v", len(names), names)
	}
	return names
}

const shadowable = `[...new Set([HTMLDocument, HTMLFormElement, HTMLElement, Element, Node, EventTarget, ShadowRoot,
	SVGElement, HTMLInputElement, HTMLSelectElement, HTMLLabelElement, HTMLAnchorElement, HTMLImageElement,
	HTMLTableElement, HTMLTableCellElement]
	.flatMap((of) => {
		const all = [];
		for (let p = of.prototype; p !== Object.prototype; p = Object.getPrototypeOf(p)) all.push(...Object.getOwnPropertyNames(p));
		return all;
	})
	.concat(("library memory enter $ numbers elements watch generation closedRoots hosts called given lists " +
		"waits steady missed watched owner axe define module exports").split(" ")))]`
