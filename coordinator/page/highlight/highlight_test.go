package highlight_test

import (
	"fmt"
	"image/color"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

const shop = `<!doctype html><title>Shop</title>
<style>body{margin:0;background:#fff}
button,p{position:absolute;left:100px;top:100px;width:80px;height:40px;margin:0;border:0;background:#0a0}</style>
<button>Buy</button><p id=hidden style="display:none">Hidden</p>
<p id=below style="top:3000px">Below</p><div style="height:5000px"></div>`

// isLit reports whether the element that begins at this point of the viewport is highlighted,
// and nothing around it.
func isLit(t *testing.T, p *page.Page, x, y float64) bool {
	t.Helper()
	at := pagetest.Pixels(t, p)
	lit := func(x, y float64) bool { return at(x, y).B > 0x20 }
	white := func(x, y float64) bool { return at(x, y) == color.RGBA{255, 255, 255, 255} }
	return lit(x+5, y+5) && lit(x+75, y+35) && white(x-5, y+5) && white(x+85, y+35)
}

// until waits until what begins there is highlighted, or no longer is.
func until(t *testing.T, p *page.Page, x, y float64, lit bool) {
	t.Helper()
	must.Await(t, fmt.Sprintf("highlighted at %v,%v: %v", x, y, lit), func() bool { return isLit(t, p, x, y) == lit })
}

func show(t *testing.T, p *page.Page, target, name string, away bool) {
	t.Helper()
	element, err := p.Highlighter().Show(t.Context(), target)
	if err != nil || element.Name != name || element.OffScreen != away {
		t.Fatalf("%s: %+v, %v", target, element, err)
	}
}

func TestHighlight(t *testing.T) {
	p, _ := pagetest.Open(t, shop)
	pagetest.Evaluate(t, p, `changes = 0;
for (const kind of ["scroll", "mousemove", "focus", "resize"]) addEventListener(kind, () => changes++, true);
new MutationObserver(() => changes++).observe(document, {subtree: true, childList: true, attributes: true}); 0`)
	show(t, p, "button", "Buy", false)
	pagetest.Expect(t, p, "changes", "0")
	until(t, p, 100, 100, true)

	// It outlives the mouse, and follows the element.
	move := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: 300, Y: 300}
	if err := p.Session().Call(t.Context(), input.CommandDispatchMouseEvent, move, nil); err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, `document.querySelector("button").style.left = "400px"`)
	until(t, p, 400, 100, true)
	pagetest.Evaluate(t, p, `scrollTo(0, 60)`)
	until(t, p, 400, 40, true)
	pagetest.Evaluate(t, p, `document.querySelector("button").style.display = "none";
document.querySelector("#hidden").style.cssText = "display:block;left:400px"`)
	until(t, p, 400, 40, false)
	pagetest.Evaluate(t, p, `document.querySelector("#hidden").style.display = "none";
document.querySelector("button").style.display = "block"`)
	until(t, p, 400, 40, true)

	// Another element has it instead, and then none.
	pagetest.Evaluate(t, p, `scrollTo(0, 0)`)
	show(t, p, "#below", "Below", true)
	until(t, p, 400, 100, false)
	if hidden, err := p.Highlighter().Hide(t.Context()); err != nil || !hidden {
		t.Errorf("hidden: %v %v", hidden, err)
	}
	if hidden, err := p.Highlighter().Hide(t.Context()); err != nil || hidden {
		t.Errorf("hidden again: %v %v", hidden, err)
	}
	if _, err := p.Highlighter().Show(t.Context(), "#hidden"); err == nil || !strings.Contains(err.Error(), "no size") {
		t.Errorf("of a hidden element: %v", err)
	}
}

func TestHighlightEnds(t *testing.T) {
	p, url := pagetest.Open(t, shop)
	show(t, p, "button", "Buy", false)
	until(t, p, 100, 100, true)
	pagetest.Navigate(t, p, url+"/next")
	until(t, p, 100, 100, false)
	must.Await(t, "no highlight", func() bool {
		hidden, err := p.Highlighter().Hide(t.Context())
		return err == nil && !hidden
	})
	show(t, p, "button", "Buy", false)
	until(t, p, 100, 100, true)
	pagetest.Evaluate(t, p,
		`document.querySelector("button").replaceWith(document.querySelector("button").cloneNode(true))`)
	until(t, p, 100, 100, false)

	// What an agent has highlighted goes when it leaves.
	other := pagetest.Connect(t)
	theirs, err := other.Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	show(t, theirs, "button", "Buy", false)
	until(t, p, 100, 100, true)
	other.Close()
	until(t, p, 100, 100, false)
}

func TestHighlightInFrames(t *testing.T) {
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<!doctype html><style>iframe{position:absolute;top:50px;width:300px;height:300px;border:0}</style>
<iframe src="/in" style="left:0"></iframe>
<iframe src="http://localhost:%s/in?other" style="left:400px"></iframe>`, port)
		default:
			fmt.Fprintf(w, strings.Replace(shop, "Buy", "Buy %s", 1), r.URL.RawQuery)
		}
	}))
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "Buy other"})
	show(t, p, `button "Buy other"`, "Buy other", false)
	until(t, p, 500, 150, true)
	show(t, p, `text="Buy"`, "Buy", false)
	until(t, p, 100, 150, true)
	until(t, p, 500, 150, false)
	pagetest.Evaluate(t, p, `document.querySelector("iframe").style.top = "150px"`)
	until(t, p, 100, 250, true)
}

func TestHighlightZoomed(t *testing.T) { pagetest.Zoomed(t, TestHighlight) }
