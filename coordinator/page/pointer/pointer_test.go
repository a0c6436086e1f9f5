package pointer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/video"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// shop notes whatever it gets besides the input.
const shop = `<!doctype html><title>Shop</title>
<style>body{margin:0;background:#fff} button,input{padding:0;position:absolute;left:100px;top:100px;width:80px;
  height:40px;border:0;background:#eee;outline:0} input{top:200px}</style>
<button>Buy</button><input aria-label=Coupon><script>
clicks = seen = 0;
onclick = () => clicks++;
for (const kind of ["resize", "scroll"]) addEventListener(kind, () => seen++, true);
new MutationObserver(() => seen++).observe(document, {subtree: true, childList: true, attributes: true});
</script>`

// open opens the shop as an agent whose user is present, and as the user sees it. The pointer does not go by
// itself, however slow the machine is.
func open(t *testing.T, user page.Presence) (agent *page.Page, b *page.Browser, viewer *page.Page) {
	t.Helper()
	return openWith(t, &page.Options{User: user, PointerRest: time.Hour})
}

func openWith(t *testing.T, o *page.Options) (agent *page.Page, b *page.Browser, viewer *page.Page) {
	t.Helper()
	b = pagetest.ConnectWith(t, o)
	agent, _ = pagetest.ServeIn(t, b, pagetest.HTML(shop))
	return agent, b, pagetest.Attach(t, agent)
}

// isShown reports whether the pointer is drawn with its tip at this point.
func isShown(t *testing.T, p *page.Page, tip frame.Point) bool {
	t.Helper()
	at := pagetest.Pixels(t, p)
	isBlue := func(x, y float64) bool {
		c := at(tip.X+x, tip.Y+y)
		return c.B > 200 && c.R < 120
	}
	return isBlue(5, 7) && !isBlue(-4, -4) && !isBlue(14, 18)
}

var onButton, onField = frame.Point{X: 140, Y: 120}, frame.Point{X: 140, Y: 220}

func until(t *testing.T, p *page.Page, what string, tip frame.Point, shown bool) {
	t.Helper()
	must.Await(t, what, func() bool { return isShown(t, p, tip) == shown })
}

// The user sees where the agent clicks and types. Neither the page nor the agent sees it.
func TestPointer(t *testing.T) {
	p, b, viewer := open(t, page.UserPresent)
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	until(t, viewer, "the pointer at the button", onButton, true)
	if isShown(t, p, onButton) {
		t.Error("the pointer is in the agent's screenshot")
	}
	until(t, viewer, "the pointer after the agent's screenshot", onButton, true)
	pagetest.Act(t, p, p.Input().Type("input", "TEA", input.TypeOptions{}))
	until(t, viewer, "the pointer at the field", onField, true)
	if isShown(t, viewer, onButton) {
		t.Error("the pointer is still at the button")
	}
	pagetest.Expect(t, p, "document.elementFromPoint(143, 124).localName + clicks + seen", `"button10"`)
	if text := pagetest.Snapshot(t, p); strings.Count(strings.TrimSpace(text), "\n") != 1 {
		t.Errorf("the snapshot has more than a button and a field:\n%s", text)
	}
	pagetest.Act(t, p, p.Input().Vision().Move(onButton.X, onButton.Y))
	until(t, viewer, "the pointer where the mouse is", onButton, true)
	b.Close()
	until(t, viewer, "no pointer of an agent that has gone", onButton, false)
}

// It goes by itself some time after the last action.
func TestPointerRests(t *testing.T) {
	p, _, viewer := openWith(t, &page.Options{User: page.UserPresent})
	must.Await(t, "the pointer", func() bool {
		pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
		return isShown(t, viewer, onButton)
	})
	until(t, viewer, "no pointer after the last action", onButton, false)
}

func TestPointerZoomed(t *testing.T) { pagetest.Zoomed(t, TestPointer) }

// Each screenshot of the agent hides it, whatever happens at the same time.
func TestNoPointerInScreenshots(t *testing.T) {
	p, _, viewer := open(t, page.UserPresent)
	for n := range 10 {
		target, at := "button", onButton
		if n%2 == 1 {
			target, at = "input", onField
		}
		pagetest.Act(t, p, p.Input().Click(target, input.ClickOptions{}))
		if isShown(t, p, at) {
			t.Errorf("the pointer is in screenshot %d", n)
		}
	}
	until(t, viewer, "the pointer", onField, true)

	// A video draws its own.
	save := func(write func(*os.File) error) (string, int64, error) {
		path := filepath.Join(t.TempDir(), "video.webm")
		file, err := os.Create(path)
		if err != nil {
			return "", 0, err
		}
		defer file.Close()
		return path, 0, write(file)
	}
	recording, err := p.Recorder().Start(t.Context(), video.Settings{Width: 320, IsOutside: func(string) bool { return false }}, save)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	if isShown(t, viewer, onButton) || isShown(t, viewer, onField) {
		t.Error("the pointer is in a video")
	}
	if _, err := recording.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	until(t, viewer, "the pointer after the video", onButton, true)
}

// It is above dialogs and frames, and survives the user's mouse and a highlight.
func TestPointerOverEverything(t *testing.T) {
	p, _, viewer := open(t, page.UserPresent)
	pagetest.Evaluate(t, p, `document.body.innerHTML +=
  "<dialog style='inset:0;margin:0;border:0;padding:0;width:500px;height:400px'><button>In</button></dialog>";
document.querySelector("dialog").showModal()`)
	pagetest.Act(t, p, p.Input().Click(`dialog button`, input.ClickOptions{}))
	until(t, viewer, "the pointer above a dialog", onButton, true)
	if _, err := viewer.Highlighter().Show(t.Context(), "dialog button"); err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, viewer, viewer.Input().Vision().Move(300, 300))
	until(t, viewer, "the pointer above a highlight", onButton, true)
}

// It goes with the document, and no screenshot brings it back in the next one.
func TestPointerGoesWithDocument(t *testing.T) {
	p, _, viewer := open(t, page.UserPresent)
	url := p.URL()
	for name, leave := range map[string]func(){
		"reload": func() { pagetest.Evaluate(t, p, "location.reload(); 0") },
		"link":   func() { pagetest.Evaluate(t, p, "location.href = '/next'; 0") },
		"site": func() {
			pagetest.Evaluate(t, p, "location.host = location.host.replace('127.0.0.1', 'localhost'); 0")
		},
		"back": func() { pagetest.Evaluate(t, p, "history.back(); 0") },
	} {
		pagetest.Navigate(t, p, url)
		pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
		until(t, viewer, "the pointer before "+name, onButton, true)
		leave()
		until(t, viewer, "no pointer after "+name, onButton, false)
		for range 5 { // a screenshot draws it again, unless the document is another one
			isShown(t, p, onButton)
			until(t, viewer, "still no pointer after "+name, onButton, false)
		}
	}
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	until(t, viewer, "the pointer in the next document", onButton, true)
}

// A click that opens another document does not show the pointer there, also if it is drawn meanwhile.
func TestPointerOfClickThatLeaves(t *testing.T) {
	for range 4 {
		p, _, viewer := open(t, page.UserPresent)
		pagetest.Evaluate(t, p, "document.querySelector('button').onmousedown = () => location.href = '/next'; 0")
		pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
		until(t, viewer, "no pointer in the next document", onButton, false)
		awaitLater(t, p, viewer)
		if isShown(t, viewer, onButton) {
			t.Error("the pointer is in the next document")
		}
	}
}

// awaitLater waits until the pointer of another agent is drawn, at the field: what was to be drawn before it
// is drawn by then.
func awaitLater(t *testing.T, p, viewer *page.Page) {
	t.Helper()
	later := must.Get(pagetest.ConnectWith(t, &page.Options{User: page.UserPresent, PointerRest: time.Hour}).
		Page(t.Context(), p.ID()))(t)
	pagetest.Act(t, later, later.Input().Vision().Move(onField.X, onField.Y))
	until(t, viewer, "the pointer of a later agent", onField, true)
}

// Nobody looks at a browser that draws on no screen.
func TestNoPointerWithoutUser(t *testing.T) {
	p, _, viewer := open(t, page.UserIfVisible)
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	awaitLater(t, p, viewer)
	if isShown(t, viewer, onButton) {
		t.Error("the pointer is shown to nobody")
	}
}
