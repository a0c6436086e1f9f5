package tools_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

const brokenScript = `document.querySelector("#order").onclick = async () => {
  await fetch("/stock");
  throw new Error("no stock");
};
`

// brokenShop is a page whose order fails, with its script in the workspace of the window.
func brokenShop(t *testing.T) (*toolstest.Window, string) {
	t.Helper()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), toolstest.Browser(t).URL())
	must.Do(t, os.WriteFile(filepath.Join(w.Folder, "cart.js"), []byte(brokenScript), 0o600))
	url := toolstest.Serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cart.js":
			rw.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(rw, brokenScript)
		case "/stock":
			http.Error(rw, "none", http.StatusInternalServerError)
		default:
			fmt.Fprint(rw, `<!doctype html><title>Shop</title><body style="background:#f00"><button id=order>Order</button>`+
				`<script src=cart.js></script>`)
		}
	})
	return w, url
}

// reported waits for the report of a call.
func reported(w *toolstest.Window, fits func(vscodeipc.Activity) bool) (found vscodeipc.Activity) {
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		for _, entry := range r.Entries {
			if fits(entry) {
				found = entry
				return true
			}
		}
		return false
	})
	return found
}

func named(act string) func(vscodeipc.Activity) bool {
	return func(a vscodeipc.Activity) bool { return a.Act == act }
}

// The user sees why a call was allowed, which script it ran, and what followed it.
func TestActivityDetails(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	hidden := secrets.New(map[string]string{"TOKEN": "swordfish"})
	agent := w.Start(options{Secrets: hidden})
	agent.Open(url)
	if d := reported(w, named("browser_navigate")).Details; d.Reason != "mode" || d.Picture != nil {
		t.Errorf("allowed by %q; a window that shows no pictures has %d bytes", d.Reason, len(d.Picture))
	}
	agent.Must("browser_snapshot", nil)
	if d := reported(w, named("browser_snapshot")).Details; d.Reason != "reads" || d.Effects != nil {
		t.Errorf("%+v", d)
	}
	agent.Must("browser_click", args{"target": "#order"})
	d := reported(w, named("browser_click")).Details
	if len(d.Effects) != 2 {
		t.Fatalf("the click was followed by %+v", d.Effects)
	}
	if request := d.Effects[0]; request.Kind != "request" || request.Place != "cart.js:2:9" || request.Late ||
		!strings.HasPrefix(request.Text, "GET /stock → 500") {
		t.Errorf("%+v", request)
	}
	if message := d.Effects[1]; message.Kind != "error" || !strings.HasPrefix(message.Place, "cart.js:3:") ||
		!strings.Contains(message.Text, "no stock") {
		t.Errorf("%+v", message)
	}
	const script = "() => 'swordfish'"
	agent.Must("browser_evaluate", args{"function": script})
	d = reported(w, named("browser_evaluate")).Details
	if d.Script != strings.ReplaceAll(script, "swordfish", "<secret>TOKEN</secret>") {
		t.Errorf("the script is %q", d.Script)
	}
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	decision := vscodeipc.AskResult{Decision: "allow", Reason: "human"}
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) { return decision, nil })
	for _, want := range []vscodeipc.ActivityDetails{{Reason: "human"}, {Reason: "grant", Covers: "input"}} {
		decision.Reason, decision.Covers = want.Reason, want.Covers
		agent.Must("browser_press_key", args{"key": "Tab"})
		reported(w, func(a vscodeipc.Activity) bool {
			return a.Act == "browser_press_key" && a.Details.Reason == want.Reason && a.Details.Covers == want.Covers
		})
	}
}

// A call that runs for long is listed until it ends.
func TestRunningCall(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	const script = "() => new Promise(done => { finish = done; if (globalThis.finished) done() })"
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_evaluate", args{"function": script})
		ended <- err
	}()
	listed := toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		return len(a.Clients) == 1 && len(a.Clients[0].Running) == 1 && a.Clients[0].Running[0].Act == "browser_evaluate"
	})
	if call := listed.Clients[0].Running[0]; call.Script != script || call.Time == 0 {
		t.Errorf("%+v", call)
	}
	agent.Must("browser_evaluate", args{"function": "() => { finished = true; globalThis.finish?.() }"})
	must.Do(t, <-ended)
	toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(vscodeipc.AnnounceArg) bool {
		calls := w.Calls(vscodeipc.CommandClientAnnounce)
		return !bytes.Contains(calls[len(calls)-1].Arg, []byte("running"))
	})
}

// A window that shows pictures gets a small one of the page after each action, but none of a page that
// may not be read.
func TestActivityPicture(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	w.Handle(vscodeipc.CommandClientAnnounce, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AnnounceResult{Pictures: true}, nil
	})
	agent := w.Agent()
	agent.Must("browser_snapshot", nil)
	reported(w, named("browser_snapshot"))
	agent.Open(url)
	d := reported(w, named("browser_navigate")).Details
	picture, err := jpeg.Decode(bytes.NewReader(d.Picture))
	if err != nil {
		t.Fatal(err)
	}
	size := picture.Bounds().Size()
	if size.X > 320 || size.Y > 320 || len(d.Picture) > 24_000 {
		t.Errorf("%v, %d bytes", size, len(d.Picture))
	}
	if r, g, _, _ := picture.At(size.X/2, size.Y/2).RGBA(); r>>8 < 240 || g>>8 > 20 {
		t.Errorf("the page's colour is %x %x in the picture", r>>8, g>>8)
	}
	agent.Must("browser_evaluate", args{"function": "() => { setTimeout(() => alert('x')) }"})
	if d := reported(w, named("browser_evaluate")).Details; d.Picture != nil {
		t.Error("a page behind a dialog has a picture")
	}
}

// The pictures for the user leave the page as it was: when the agent's next call follows at once, when
// another agent takes a picture, and when the agent leaves.
func TestActivityPictureChangesNothing(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	w.Handle(vscodeipc.CommandClientAnnounce, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AnnounceResult{Pictures: true}, nil
	})
	const sizes = `() => [innerWidth, innerHeight, devicePixelRatio].join()`
	agent, watcher := w.Agent(), w.Agent()
	agent.Open(url)
	want := agent.Evaluate(sizes)
	for round := range 5 {
		agent.Open(url)
		var looking sync.WaitGroup
		looking.Go(func() {
			for range 3 {
				watcher.Must("browser_take_screenshot", args{"clip": "0,0,60,40"})
			}
		})
		agent.Must("browser_evaluate", args{"function": "() => 1"})
		agent.Must("browser_evaluate", args{"function": "() => 1"})
		looking.Wait()
		text, all := pictures(t, agent, nil)
		if after := agent.Evaluate(sizes); after != want {
			t.Fatalf("round %d: the page is %s, was %s", round, after, want)
		}
		if drawn := all[0].Bounds(); want != fmt.Sprintf(`"%d,%d,1"`, drawn.Dx(), drawn.Dy()) {
			t.Fatalf("round %d: %v are drawn of %s: %s", round, drawn, want, text)
		}
	}
	agent.Must("browser_evaluate", args{"function": "() => 1"})
	must.Do(t, agent.Close())
	if after := watcher.Evaluate(sizes); after != want {
		t.Errorf("when the agent has left, the page is %s, was %s", after, want)
	}
}

// A page that another tool's pictures have left in their size gets its own again. The agent and the user learn it
// once.
func TestStuckPage(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	agent := w.Agent()
	agent.Open(url)
	const sizes = `() => [innerWidth, innerHeight, devicePixelRatio].join()`
	want := agent.Evaluate(sizes)
	clip := map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 60, "height": 40, "scale": 1}}
	b := must.Get(page.Connect(t.Context(), w.Browser(), nil))(t)
	defer b.Close()
	other := must.Get(page.Connect(t.Context(), w.Browser(), nil))(t)
	defer other.Close()
	var taking sync.WaitGroup
	for _, client := range []*page.Browser{b, other} {
		id := must.Get(client.InFront(t.Context()))(t)
		p := must.Get(client.Page(t.Context(), id))(t)
		taking.Go(func() {
			for range 3 {
				if err := p.Session().Call(t.Context(), "Page.captureScreenshot", clip, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	taking.Wait()
	agent.Expect("browser_snapshot", nil, "The page was stuck at 60 × 40 pixels")
	if text := agent.Must("browser_snapshot", nil); strings.Contains(text, "stuck") {
		t.Errorf("again: %s", text)
	}
	agent.ExpectValue(sizes, want)
	d := reported(w, named("browser_snapshot")).Details
	if len(d.Effects) != 1 || d.Effects[0].Kind != "warning" || !strings.Contains(d.Effects[0].Text, "stuck") {
		t.Errorf("the user gets %+v", d.Effects)
	}
}

// The user gets what an agent has done as a test, between its calls, or the reason why there is none.
func TestUserWantsTest(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	recorded, other := w.Agent("testing"), w.Agent()
	recorded.Open(url)
	recorded.Must("browser_click", args{"target": "#order"})
	other.Must("window_list", nil)
	clients := map[string]bool{}
	toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		for _, c := range a.Clients {
			clients[c.ID] = true
		}
		return len(clients) == 2
	})
	must.Do(t, w.SetState(vscodeipc.State{
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull, Stopped: []string{}},
		Browser: &vscodeipc.Browser{URL: w.Browser(), Product: "Chromium", Via: "injected"},
		Tests:   slices.Collect(maps.Keys(clients)),
	}))
	toolstest.Called(w, vscodeipc.CommandTestGive, func(g vscodeipc.TestGiveArg) bool {
		return clients[g.Client.ID] && strings.Contains(g.Code, "getByRole('button', { name: 'Order' }).click()")
	})
	toolstest.Called(w, vscodeipc.CommandTestGive, func(g vscodeipc.TestGiveArg) bool {
		return clients[g.Client.ID] && strings.Contains(g.Problem, "--caps testing") && g.Code == ""
	})
}

// A test that is too long for a message is not given, and the user gets the reason.
func TestUserWantsLongTest(t *testing.T) {
	t.Parallel()
	w, url := brokenShop(t)
	agent := w.Agent("testing")
	agent.Open(url)
	agent.Must("browser_evaluate", args{"function": "() => { /* " + strings.Repeat("x", 8<<20) + " */ }"})
	listed := toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		return len(a.Clients) == 1
	})
	must.Do(t, w.SetState(vscodeipc.State{
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull, Stopped: []string{}},
		Browser: &vscodeipc.Browser{URL: w.Browser(), Product: "Chromium", Via: "injected"},
		Tests:   []string{listed.Clients[0].ID},
	}))
	toolstest.Called(w, vscodeipc.CommandTestGive, func(g vscodeipc.TestGiveArg) bool {
		return strings.Contains(g.Problem, "too long") && g.Code == ""
	})
}
