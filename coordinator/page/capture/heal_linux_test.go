package capture_test

import (
	"fmt"
	"testing"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

// A tab in the background keeps its size when its window gets another one, until it is shown: it is not stuck.
func TestWindowResizedBeforeABackgroundTab(t *testing.T) {
	t.Setenv("DISPLAY", desktoptest.Start(t).Display())
	pagetest.UseBrowser(t, chrome.Options{Viewport: "800x500"})
	for name, width := range map[string]int{"smaller": 600, "larger": 950} {
		for known, seen := range map[string]bool{"seen before": true, "never seen": false} {
			t.Run(name+", "+known, func(t *testing.T) {
				b := pagetest.Connect(t)
				p, _ := pagetest.ServeIn(t, b, pagetest.HTML(long))
				client := cdptest.Dial(t, pagetest.URL())
				var w struct {
					ID int `json:"windowId"`
				}
				client.Call("", "Browser.getWindowForTarget", fmt.Sprintf(`{"targetId":%q}`, p.ID()), &w)
				show := func(p *page.Page, width int) {
					must.Do(t, b.Activate(t.Context(), p.ID()))
					client.Call("", "Browser.setWindowBounds",
						fmt.Sprintf(`{"windowId":%d,"bounds":{"width":%d}}`, w.ID, width), nil)
					pagetest.WaitFor(t, p, page.WaitOptions{
						Expression: fmt.Sprintf("outerWidth === %d && innerWidth === outerWidth", width),
					})
				}
				show(p, 800)
				pagetest.Evaluate(t, p, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
					.then(() => { resizes = 0; onresize = () => resizes++; })`)
				if seen {
					must.Get(p.Screen().Screenshot(t.Context(), capture.Options{}))(t)
				} else {
					p = pagetest.Attach(t, p)
				}
				show(pagetest.NewPage(t, b), width)
				p.Screen().Resized()
				if sentence := p.Healed(t.Context()); sentence != "" {
					t.Error(sentence)
				}
				pagetest.Expect(t, p, "[innerWidth, resizes].join()", `"800,0"`)
				show(p, width)
			})
		}
	}
}
