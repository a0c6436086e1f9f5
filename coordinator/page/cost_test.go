package page

import (
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// What an act costs on top of the raw commands that nobody can do without, at the
// median: finding the target, the checks, and settling, all by events. Rounds of
// both are interleaved. The aim is 5 ms.
func BenchmarkOwnCost(b *testing.B) {
	p, _ := open(b, `<!doctype html><style>button,input,select{display:block}</style><button id=b>Button</button><input id=i><select id=s><option>a<option>b</select><input id=j><input id=c type=checkbox><p id=from>from</p><p id=to>to</p><ul id=l></ul>
<script>for (let n=0;n<400;n++) l.insertAdjacentHTML('beforeend','<li><a href=#>Item</a> <button>Add</button></li>')</script>`)
	text := snapshot(b, p)
	button, field := ref(b, text, `"Button"`), ref(b, text, "textbox")
	ctx := b.Context()
	s, err := p.ready(ctx, "#b", "hover", p.patience(0))
	if err != nil {
		b.Fatal(err)
	}
	from, err := p.ready(ctx, "#from", "hover", p.patience(0))
	if err != nil {
		b.Fatal(err)
	}
	to, err := p.ready(ctx, "#to", "hover", p.patience(0))
	if err != nil {
		b.Fatal(err)
	}
	box, err := p.ready(ctx, "#c", "hover", p.patience(0))
	if err != nil {
		b.Fatal(err)
	}
	// Libraries want to see a drag begin with a few pixels.
	begin := &spot{x: from.x + (to.x-from.x)/10, y: from.y + (to.y-from.y)/10}
	half := &spot{x: (from.x + to.x) / 2, y: (from.y + to.y) / 2}
	// As every client does it: one after the other.
	mouse := func(at *spot, events ...input.DispatchMouseEventParams) error {
		for _, e := range events {
			if err := p.mouse(ctx, at.x, at.y, 0, []input.DispatchMouseEventParams{e}); err != nil {
				return err
			}
		}
		return nil
	}
	script := func(expression string) error {
		_, err := protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{Expression: expression})
		return err
	}
	// Neither is to pay for what the one before has left to be drawn.
	atRest := func() {
		_, err := protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{Expression: "new Promise(requestIdleCallback)", AwaitPromise: new(true)})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, act := range []struct {
		name    string
		raw, do func() error
	}{
		{"click",
			func() error { return mouse(s, clicks(input.MouseButtonLeft, 1, 1)...) },
			func() error { _, err := p.Click(ctx, button, ClickOptions{}); return err }},
		{"hover",
			func() error { return mouse(s, clicks(input.MouseButtonLeft, 1, 0)...) },
			func() error { _, err := p.Hover(ctx, button); return err }},
		{"type",
			func() error {
				if err := script("i.focus(), i.select()"); err != nil {
					return err
				}
				return p.insert(ctx, "some text")
			},
			func() error { _, err := p.Type(ctx, field, "some text", TypeOptions{}); return err }},
		{"press a key",
			func() error { return p.press(ctx, "a") },
			func() error { _, err := p.PressKey(ctx, "a"); return err }},
		{"select",
			func() error { return script("s.value = 'b', s.dispatchEvent(new Event('change'))") },
			func() error { _, err := p.SelectOption(ctx, "#s", "b"); return err }},
		{"evaluate",
			func() error { return script("1") },
			func() error { _, _, err := p.Evaluate(ctx, "() => 1", ""); return err }},
		{"drag",
			func() error {
				for _, step := range []struct {
					at    *spot
					event input.DispatchMouseEventParams
				}{
					{from, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved}},
					{from, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}},
					{begin, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1}},
					{half, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1}},
					{to, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1}},
					{to, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1}},
				} {
					if err := p.mouse(ctx, step.at.x, step.at.y, 0, []input.DispatchMouseEventParams{step.event}); err != nil {
						return err
					}
				}
				return nil
			},
			func() error { _, err := p.Drag(ctx, "#from", "#to"); return err }},
		{"fill a form",
			func() error {
				if err := script("j.focus(), j.select()"); err != nil {
					return err
				}
				if err := p.insert(ctx, "some text"); err != nil {
					return err
				}
				return mouse(box, clicks(input.MouseButtonLeft, 1, 1)...) // which checks it
			},
			func() error {
				_, err := p.FillForm(ctx, []Field{{Target: "#j", Type: "textbox", Value: "some text"}, {Target: "#c", Type: "checkbox", Value: "false"}})
				return err
			}},
		{"snapshot", // beside the browser's own tree, which has no refs
			func() error {
				return p.session.Call(ctx, accessibility.CommandGetFullAXTree, accessibility.GetFullAXTreeParams{}, nil)
			},
			func() error { _, err := p.Snapshot(ctx, SnapshotOptions{}); return err }},
		{"screenshot",
			func() error {
				_, err := protocol.Call(ctx, p.session, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)})
				return err
			},
			func() error { _, err := p.Screenshot(ctx, ScreenshotOptions{}); return err }},
		{"navigate", // the last: the refs are of the document before
			func() error {
				loaded := p.session.Listen("Page.loadEventFired")
				defer loaded.Close()
				if _, err := protocol.Call(ctx, p.session, cdppage.Navigate, cdppage.NavigateParams{URL: p.URL()}); err != nil {
					return err
				}
				select {
				case <-loaded.C():
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
			func() error { _, err := p.Navigate(ctx, p.URL()); return err }},
	} {
		b.Run(act.name, func(b *testing.B) {
			var own []time.Duration
			for b.Loop() {
				atRest()
				start := time.Now()
				if err := act.raw(); err != nil {
					b.Fatal(err)
				}
				raw := time.Since(start)
				atRest()
				start = time.Now()
				if err := act.do(); err != nil {
					b.Fatal(err)
				}
				own = append(own, time.Since(start)-raw)
			}
			slices.Sort(own)
			b.ReportMetric(own[len(own)/2].Seconds()*1000, "own-ms")
		})
	}
}
