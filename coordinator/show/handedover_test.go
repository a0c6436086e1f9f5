package show

import (
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/vscodeipc"
)

// TestHandedOverTab: a tab that the user has handed over, of their own browser, is shown as any other.
func TestHandedOverTab(t *testing.T) {
	s, scene := start(t), openScene(t)
	chrome := cdptest.Launch(t)
	part, url := cdptest.ServeOwn(t, chrome.URL())
	user := cdptest.Dial(t, chrome.URL())
	tab := cdptest.HandOverTab(t, user, part, scene.shop+"/checkout")
	scene.open(sceneWindow{folder: "own", kind: "terminal", state: vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: url, Product: "Chrome/156.0", Via: "personal"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull}}})
	v := openViewer(t, "")
	v.Call(v.page, "Page.bringToFront", "{}", nil)
	v.look(1280, 800, "light")
	v.open(s.Link())
	v.await("its picture in the overview", `document.querySelector(".page canvas")?.width > 100`)
	v.openLive("Checkout · Tea Shop")
	user.Evaluate(user.Attach(tab), `document.body.style.background = "rgb(200, 30, 60)"; 0`)
	v.await("its picture moves", `(() => {
		const [r, g, b] = `+view+`.querySelector("#canvas").getContext("2d").getImageData(5, 5, 1, 1).data;
		return Math.abs(r - 200) + Math.abs(g - 30) + Math.abs(b - 60) < 30; })()`)
}
