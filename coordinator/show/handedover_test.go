package show

import (
	"fmt"
	"log/slog"
	"testing"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// TestHandedOverTab: a tab that the user has handed over, of their own browser, is shown as any other.
func TestHandedOverTab(t *testing.T) {
	s, scene := start(t), openScene(t)
	log := slog.New(slog.DiscardHandler)
	chrome := cdptest.Launch(t)
	whole := must.Get(multiplex.Serve(cdptest.DialTransport(t, chrome.URL()), log))(t)
	t.Cleanup(whole.Close)
	part := must.Get(partial.New(t.Context(), whole, log))(t)
	t.Cleanup(part.Close)
	served := must.Get(private.Serve(part, log))(t)
	t.Cleanup(served.Close)
	user := cdptest.Dial(t, chrome.URL())
	var tab struct {
		ID string `json:"targetId"`
	}
	user.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, scene.shop+"/checkout"), &tab)
	must.Await(t, "the tab is known", func() bool { return part.HandOver(tab.ID) == nil })
	scene.open(sceneWindow{folder: "own", kind: "terminal", state: vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: served.URL(), Product: "Chrome/156.0", Via: "personal"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull}}})
	v := openViewer(t, "")
	v.Call(v.page, "Page.bringToFront", "{}", nil)
	v.look(1280, 800, "light")
	v.open(s.Link())
	v.await("its picture in the overview", `document.querySelector(".page canvas")?.width > 100`)
	v.openLive("Checkout · Tea Shop")
	user.Evaluate(user.Attach(tab.ID), `document.body.style.background = "rgb(200, 30, 60)"; 0`)
	v.await("its picture moves", `(() => {
		const [r, g, b] = `+view+`.querySelector("#canvas").getContext("2d").getImageData(5, 5, 1, 1).data;
		return Math.abs(r - 200) + Math.abs(g - 30) + Math.abs(b - 60) < 30; })()`)
}
