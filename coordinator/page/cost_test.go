package page

import (
	"slices"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// What an act costs on top of the raw commands that nobody can do without, at the
// median: finding the target, the checks, and settling, all by events. Rounds of
// both are interleaved. The aim is 5 ms.
func BenchmarkOwnCost(b *testing.B) {
	p, _ := open(b, `<!doctype html><style>button,input,select{display:block}</style><button id=b>Button</button><input id=i><select id=s><option>a<option>b</select><ul id=l></ul>
<script>for (let n=0;n<400;n++) l.insertAdjacentHTML('beforeend','<li><a href=#>Item</a> <button>Add</button></li>')</script>`)
	text := snapshot(b, p)
	button, field := ref(b, text, `"Button"`), ref(b, text, "textbox")
	ctx := b.Context()
	s, err := p.ready(ctx, "#b", "hover", p.patience(0))
	if err != nil {
		b.Fatal(err)
	}
	// As every client does it: one after the other.
	mouse := func(events ...input.DispatchMouseEventParams) error {
		for _, e := range events {
			if err := p.mouse(ctx, s.x, s.y, 0, []input.DispatchMouseEventParams{e}); err != nil {
				return err
			}
		}
		return nil
	}
	script := func(expression string) error {
		_, err := protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{Expression: expression})
		return err
	}
	for _, act := range []struct {
		name    string
		raw, do func() error
	}{
		{"click",
			func() error { return mouse(clicks(input.MouseButtonLeft, 1, 1)...) },
			func() error { _, err := p.Click(ctx, button, ClickOptions{}); return err }},
		{"hover",
			func() error { return mouse(clicks(input.MouseButtonLeft, 1, 0)...) },
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
			func() error { _, err := p.Evaluate(ctx, "() => 1", ""); return err }},
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
				start := time.Now()
				if err := act.raw(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if err := act.do(); err != nil {
					b.Fatal(err)
				}
				own = append(own, time.Since(between)-between.Sub(start))
			}
			slices.Sort(own)
			b.ReportMetric(own[len(own)/2].Seconds()*1000, "own-ms")
		})
	}
}
