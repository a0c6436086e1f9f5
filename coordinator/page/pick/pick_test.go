package pick_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

const pickHTML = `<!doctype html><title>Pick</title>
<style>body{margin:0}
#buy{position:absolute;left:300px;top:200px;width:100px;height:40px;background:#0a0;color:#fff;border:0}</style>
<ul><li>one<li>two</ul><div id=host></div>
<button id=buy class="primary large" data-testid=buy onclick="document.title='bought'">Buy</button>
<script>host.attachShadow({mode:"open"}).innerHTML = "<p>in the shadow</p>"</script>`

// pointAt is the user: real input events, from another connection. The page is visible to
// the user.
func pointAt(t *testing.T, user *page.Page, x, y float64) {
	t.Helper()
	if err := user.Session().Call(t.Context(), cdppage.CommandBringToFront, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1},
	} {
		e.X, e.Y = x, y
		if err := user.Session().Call(t.Context(), input.CommandDispatchMouseEvent, e, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// startPicking starts a pick and returns once the page is in inspect mode.
func startPicking(t *testing.T, ctx context.Context, p *page.Page) (wait func() (pick.Picked, error)) {
	t.Helper()
	type outcome struct {
		picked pick.Picked
		err    error
	}
	done, on := make(chan outcome, 1), make(chan struct{})
	go func() {
		picked, err := p.Picker().Pick(ctx, 20*time.Second, func() { close(on) })
		done <- outcome{picked, err}
	}()
	<-on
	return func() (pick.Picked, error) {
		o := <-done
		return o.picked, o.err
	}
}

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

func TestZoomed(t *testing.T) { pagetest.Zoomed(t, TestPick) }

func TestPick(t *testing.T) {
	p, url := pagetest.Open(t, pickHTML)
	user := pagetest.Attach(t, p)
	wait := startPicking(t, t.Context(), p)
	pointAt(t, user, 350, 220)
	picked, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(picked.Line, `button "Buy"`) || !strings.Contains(picked.Line, "[ref=") {
		t.Errorf("the line is %q", picked.Line)
	}
	if picked.Selector != "#buy" || picked.Tag != "button" || picked.Text != "Buy" ||
		picked.Attributes["data-testid"] != "buy" || picked.URL != url+"/" {
		t.Errorf("picked %+v", picked)
	}
	if picked.X != 300 || picked.Y != 200 || picked.Width != 100 || picked.Height != 40 {
		t.Errorf("the box is %v,%v %vx%v", picked.X, picked.Y, picked.Width, picked.Height)
	}
	if picked.Component != nil {
		t.Errorf("a page without a framework has the component %+v", picked.Component)
	}
	shown := pagetest.Decode(t, picked.Image)
	if shown.Bounds().Dx() != 124 || shown.Bounds().Dy() != 64 {
		t.Fatalf("the picture is %v", shown.Bounds())
	}
	if r, g, b, _ := shown.At(20, 20).RGBA(); r>>8 != 0 || g>>8 != 0xaa || b != 0 {
		t.Errorf("the button is %d %d %d in the picture: the highlight must not be seen there", r>>8, g>>8, b>>8)
	}
	if title := pagetest.Evaluate(t, p, "document.title"); title != `"Pick"` {
		t.Errorf("the page received the click: %s", title)
	}
	// The mode is off again: the next click reaches the page.
	pointAt(t, user, 350, 220)
	if title := pagetest.Evaluate(t, p, "document.title"); title != `"bought"` {
		t.Errorf("after the pick the page receives no click: %s", title)
	}
}

func TestPickElsewhere(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, pickHTML)
	user := pagetest.Attach(t, p)
	for description, c := range map[string]struct{ element, selector string }{
		"a list item": {"document.querySelectorAll('li')[1]", "li:nth-of-type(2)"},
		"in a shadow": {"host.shadowRoot.querySelector('p')", "p"},
	} {
		var point [2]float64
		at := pagetest.Evaluate(t, p, "(() => { const r = "+c.element+".getBoundingClientRect(); "+
			"return [r.x + 5, r.y + r.height / 2] })()")
		if err := json.Unmarshal([]byte(at), &point); err != nil {
			t.Fatal(err)
		}
		wait := startPicking(t, t.Context(), p)
		pointAt(t, user, point[0], point[1])
		picked, err := wait()
		if err != nil || !strings.HasSuffix(picked.Selector, c.selector) {
			t.Errorf("%s: %+v, %v", description, picked.Selector, err)
			continue
		}
		if _, _, err := p.Evaluate(t.Context(), "(element) => 1", picked.Selector, page.Bounds{}); err != nil {
			t.Errorf("%s: its selector finds nothing: %v", description, err)
		}
	}
}

func TestPickIsCancelled(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, pickHTML)
	user := pagetest.Attach(t, p)
	wait := startPicking(t, t.Context(), p)
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		key := input.DispatchKeyEventParams{Type: kind, Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27}
		if err := user.Session().Call(t.Context(), input.CommandDispatchKeyEvent, key, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := wait(); !errors.Is(err, pick.ErrCancelled) {
		t.Errorf("Escape gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	wait = startPicking(t, ctx, p)
	cancel()
	if _, err := wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled pick gives %v", err)
	}
	pagetest.Evaluate(t, p, "0") // on a busy machine, the end of the mode may still be pending
	pointAt(t, user, 350, 220)
	if title := pagetest.Evaluate(t, p, "document.title"); title != `"bought"` {
		t.Errorf("after it the page receives no click: %s", title)
	}
}

// A development build of React reports the component and its position; a source
// map leads from there to the workspace's file.
func TestPickReportsTheComponent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for from, to := range map[string]string{"dist/cart.js.map": "dist/cart.js.map", "cart.jsx": "cart.jsx"} {
		copyFile(t, filepath.Join("../testdata/react-dev", from), filepath.Join(folder, to))
	}
	bundle, err := os.ReadFile("../testdata/react-dev/dist/cart.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/dist/cart.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bundle)
		case "/":
			fmt.Fprint(w, "<!doctype html><div id=root></div><script src=/dist/cart.js></script>")
		default:
			http.FileServer(http.Dir(folder)).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	b := pagetest.ConnectWith(t, &page.Options{Folders: []string{folder}})
	p := pagetest.NewPage(t, b)
	pagetest.Navigate(t, p, server.URL)
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "4"})
	user := pagetest.Attach(t, p)
	var point [2]float64
	at := pagetest.Evaluate(t, p, "(() => { const r = price.getBoundingClientRect(); "+
		"return [r.x + 5, r.y + r.height / 2] })()")
	if err := json.Unmarshal([]byte(at), &point); err != nil {
		t.Fatal(err)
	}
	wait := startPicking(t, t.Context(), p)
	pointAt(t, user, point[0], point[1])
	picked, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	c := picked.Component
	if c == nil || c.Framework != "React" || c.Name != "Price" || !slices.Contains(c.Owners, "Cart") {
		t.Fatalf("the component is %+v", c)
	}
	if c.Place != "cart.jsx:4:10" {
		t.Errorf("it stands at %q; the stack is\n%s", c.Place, c.Stack)
	}
}

// If the time is over, what is known of an element comes with the reason why that is not all.
func TestDescribeSlowly(t *testing.T) { // not parallel: the rest must be read within DescribeTimeout
	p, _ := pagetest.Open(t, pickHTML)
	pagetest.Evaluate(t, p, `buy.__reactFiber$x = new Proxy({}, {getOwnPropertyDescriptor() {
for (const end = Date.now() + 10000; Date.now() < end;);
}}); 0`)
	document := must.Get(protocol.Call(t.Context(), p.Session(), cdppage.GetFrameTree, protocol.Empty{}))(t)
	root := must.Get(protocol.Call(t.Context(), p.Session(), dom.GetDocument, dom.GetDocumentParams{}))(t)
	button := must.Get(protocol.Call(t.Context(), p.Session(), dom.QuerySelector,
		dom.QuerySelectorParams{NodeID: root.Root.NodeID, Selector: "#buy"}))(t)
	node := must.Get(protocol.Call(t.Context(), p.Session(), dom.DescribeNode,
		dom.DescribeNodeParams{NodeID: button.NodeID}))(t)
	picked, err := p.Picker().Describe(t.Context(), document.FrameTree.Frame.LoaderID, node.Node.BackendNodeID)
	if err == nil || picked.Selector != "#buy" || picked.Component != nil {
		t.Errorf("%+v, %v", picked, err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}
