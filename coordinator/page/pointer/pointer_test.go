package pointer_test

import (
	"bytes"
	"image"
	"image/color"
	_ "image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/video"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// shop notes whatever it gets besides the input.
const shop = `<!doctype html><title>Shop</title>
<style>body{margin:0;background:#fff} button,input{padding:0;position:absolute;left:100px;top:100px;width:80px;height:40px;border:0;background:#eee;outline:0} input{top:200px}</style>
<button>Buy</button><input aria-label=Coupon><script>
clicks = seen = 0;
onclick = () => clicks++;
for (const kind of ["resize", "scroll"]) addEventListener(kind, () => seen++, true);
new MutationObserver(() => seen++).observe(document, {subtree: true, childList: true, attributes: true});
</script>`

// open opens the shop as an agent whose user is present, and as the user sees it.
func open(t *testing.T, user page.Presence) (agent *page.Page, b *page.Browser, viewer *page.Page) {
	t.Helper()
	b = pagetest.ConnectWith(t, &page.Options{User: user})
	agent, _ = pagetest.ServeIn(t, b, pagetest.HTML(shop))
	viewer, err := pagetest.Connect(t).Page(t.Context(), agent.ID())
	if err != nil {
		t.Fatal(err)
	}
	return agent, b, viewer
}

// isShown reports whether the pointer is drawn with its tip at this point. The picture is as the screen
// has it: one of another scale has the overlay elsewhere.
func isShown(t *testing.T, p *page.Page, tip frame.Point) bool {
	t.Helper()
	shot, err := p.Screen().Screenshot(t.Context(), capture.Options{Device: true})
	if err != nil {
		t.Fatal(err)
	}
	picture, _, err := image.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		t.Fatal(err)
	}
	isBlue := func(x, y float64) bool {
		c := color.RGBAModel.Convert(picture.At(int((tip.X+x)*shot.Scale()), int((tip.Y+y)*shot.Scale()))).(color.RGBA)
		return c.B > 200 && c.R < 120
	}
	return isBlue(5, 7) && !isBlue(-4, -4) && !isBlue(14, 18)
}

var onButton, onField = frame.Point{X: 140, Y: 120}, frame.Point{X: 140, Y: 220}

func until(t *testing.T, p *page.Page, what string, tip frame.Point, shown bool) {
	t.Helper()
	must.Await(t, what, func() bool { return isShown(t, p, tip) == shown })
}

// The user sees where the agent clicks and types, for a while. Neither the page nor the agent sees it.
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
	until(t, viewer, "no pointer after the last action", onField, false)

	pagetest.Act(t, p, p.Input().Vision().Move(onButton.X, onButton.Y))
	until(t, viewer, "the pointer where the mouse is", onButton, true)
	b.Close()
	until(t, viewer, "no pointer of an agent that has gone", onButton, false)
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
	recording, err := p.Recorder().Start(t.Context(), video.Settings{Width: 320}, func(write func(*os.File) error) (string, int64, error) {
		path := filepath.Join(t.TempDir(), "video.webm")
		file, err := os.Create(path)
		if err != nil {
			return "", 0, err
		}
		defer file.Close()
		return path, 0, write(file)
	})
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

// It is above dialogs and frames, survives the user's mouse and a highlight, and goes with the document.
func TestPointerOverEverything(t *testing.T) {
	p, _, viewer := open(t, page.UserPresent)
	pagetest.Evaluate(t, p, `document.body.innerHTML += "<dialog style='inset:0;margin:0;border:0;padding:0;width:500px;height:400px'><button>In</button></dialog>";
document.querySelector("dialog").showModal()`)
	pagetest.Act(t, p, p.Input().Click(`dialog button`, input.ClickOptions{}))
	until(t, viewer, "the pointer above a dialog", onButton, true)
	if _, err := viewer.Highlighter().Show(t.Context(), "dialog button"); err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, viewer, viewer.Input().Vision().Move(300, 300))
	until(t, viewer, "the pointer above a highlight", onButton, true)
	pagetest.Evaluate(t, p, "location.reload(); 0")
	until(t, viewer, "no pointer in the next document", onButton, false)
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	until(t, viewer, "the pointer in the next document", onButton, true)
}

// Nobody looks at a browser that draws on no screen.
func TestNoPointerWithoutUser(t *testing.T) {
	p, _, viewer := open(t, page.UserIfVisible)
	for range 3 {
		pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
		if isShown(t, viewer, onButton) {
			t.Error("the pointer is shown to nobody")
		}
	}
}
