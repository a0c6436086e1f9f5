package page_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	protocol "github.com/chromedp/cdproto/cdp"
	cdpinput "github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/pagetest"
)

// BenchmarkOwnCost measures the median cost of an action beyond the necessary raw
// commands: finding the target, the checks, and settling, all by events. Rounds of both
// are interleaved. The goal is 5 ms.
func BenchmarkOwnCost(b *testing.B) {
	p, _ := pagetest.Open(b, `<!doctype html><style>button,input,select{display:block}</style>
<button id=b>Button</button><input id=i><select id=s><option>a<option>b</select><input id=j><input id=c type=checkbox>
<p id=from>from</p><p id=to>to</p><ul id=l></ul>
<script>for (let n=0;n<400;n++)
  l.insertAdjacentHTML('beforeend','<li><a href=#>Item</a> <button>Add</button></li>')</script>`)
	text := pagetest.Snapshot(b, p)
	button, field := pagetest.Ref(b, text, `"Button"`), pagetest.Ref(b, text, "textbox")
	ctx := b.Context()
	s, from, to, box := pointOf(b, p, "#b"), pointOf(b, p, "#from"), pointOf(b, p, "#to"), pointOf(b, p, "#c")
	// Libraries start a drag only after a few pixels.
	begin := point{from.x + (to.x-from.x)/10, from.y + (to.y-from.y)/10}
	half := point{(from.x + to.x) / 2, (from.y + to.y) / 2}
	script := func(expression string) error {
		_, err := protocol.Call(ctx, p.Session(), runtime.Evaluate, runtime.EvaluateParams{Expression: expression})
		return err
	}
	// No round may pay for drawing that the previous one has caused.
	atRest := func() {
		_, err := protocol.Call(ctx, p.Session(), runtime.Evaluate,
			runtime.EvaluateParams{Expression: "new Promise(done => requestIdleCallback(done, {timeout: 1000}))",
				AwaitPromise: new(true)})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, act := range []struct {
		name    string
		raw, do func() error
	}{
		{"click",
			func() error { return rawMouse(ctx, p, s, rawMove, rawPress, rawRelease) },
			func() error { _, err := p.Act(ctx, p.Input().Click(button, input.ClickOptions{})); return err }},
		{"hover",
			func() error { return rawMouse(ctx, p, s, rawMove) },
			func() error { _, err := p.Act(ctx, p.Input().Hover(button, input.HoverOptions{})); return err }},
		{"type",
			func() error {
				if err := script("i.focus(), i.select()"); err != nil {
					return err
				}
				return rawInsert(ctx, p, "some text")
			},
			func() error {
				_, err := p.Act(ctx, p.Input().Type(field, "some text", input.TypeOptions{}))
				return err
			}},
		{"press a key",
			func() error { return rawKey(ctx, p, "a") },
			func() error { _, err := p.Act(ctx, p.Input().PressKey("a")); return err }},
		{"select",
			func() error { return script("s.value = 'b', s.dispatchEvent(new Event('change'))") },
			func() error { _, err := p.Act(ctx, p.Input().SelectOption("#s", "b")); return err }},
		{"evaluate",
			func() error { return script("1") },
			func() error { _, _, err := p.Evaluate(ctx, "() => 1", "", page.Bounds{}); return err }},
		{"drag",
			func() error {
				if err := rawMouse(ctx, p, from, rawMove, rawPress); err != nil {
					return err
				}
				for _, spot := range []point{begin, half, to} {
					if err := rawMouse(ctx, p, spot, rawDrag); err != nil {
						return err
					}
				}
				return rawMouse(ctx, p, to, rawRelease)
			},
			func() error { _, err := p.Act(ctx, p.Input().Drag("#from", "#to")); return err }},
		{"fill a form",
			func() error {
				if err := script("j.focus(), j.select()"); err != nil {
					return err
				}
				if err := rawInsert(ctx, p, "some text"); err != nil {
					return err
				}
				return rawMouse(ctx, p, box, rawMove, rawPress, rawRelease) // it checks the response
			},
			func() error {
				_, err := p.Act(ctx, p.Input().FillForm([]input.Field{{Target: "#j", Type: "textbox", Value: "some text"},
					{Target: "#c", Type: "checkbox", Value: "false"}}))
				return err
			}},
		{"snapshot", // compared with the browser's own tree, which has no refs
			func() error {
				return p.Session().Call(ctx, accessibility.CommandGetFullAXTree, accessibility.GetFullAXTreeParams{}, nil)
			},
			func() error { _, err := p.Reader().Snapshot(ctx, snapshot.Options{}); return err }},
		{"screenshot",
			func() error {
				_, err := protocol.Call(ctx, p.Session(), cdppage.CaptureScreenshot,
					cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)})
				return err
			},
			func() error { _, err := p.Screen().Screenshot(ctx, capture.Options{}); return err }},
		{"navigate", // the last, because it invalidates the refs
			func() error {
				loaded := p.Session().Listen("Page.loadEventFired")
				defer loaded.Close()
				if _, err := protocol.Call(ctx, p.Session(), cdppage.Navigate, cdppage.NavigateParams{URL: p.URL()}); err != nil {
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

// point is the target of a benchmark's raw mouse events.
type point struct{ x, y float64 }

// pointOf is the middle of a target, scrolled into view.
func pointOf(b *testing.B, p *page.Page, target string) point {
	b.Helper()
	var at [2]float64
	text, _, err := p.Evaluate(b.Context(), "(e) => { e.scrollIntoView({block: 'center'}); "+
		"const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] }", target, page.Bounds{})
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		b.Fatal(err)
	}
	return point{at[0], at[1]}
}

// The mouse events of a click.
var (
	rawMove  = cdpinput.DispatchMouseEventParams{Type: cdpinput.DispatchMouseEventTypeMouseMoved}
	rawPress = cdpinput.DispatchMouseEventParams{Type: cdpinput.DispatchMouseEventTypeMousePressed,
		Button: cdpinput.MouseButtonLeft, Buttons: 1, ClickCount: 1}
	rawDrag = cdpinput.DispatchMouseEventParams{Type: cdpinput.DispatchMouseEventTypeMouseMoved,
		Button: cdpinput.MouseButtonLeft, Buttons: 1}
	rawRelease = cdpinput.DispatchMouseEventParams{Type: cdpinput.DispatchMouseEventTypeMouseReleased,
		Button: cdpinput.MouseButtonLeft, ClickCount: 1}
)

// rawMouse sends mouse events as every client does: one after the other.
func rawMouse(ctx context.Context, p *page.Page, spot point, events ...cdpinput.DispatchMouseEventParams) error {
	for _, e := range events {
		e.X, e.Y = spot.x, spot.y
		if err := p.Session().Call(ctx, cdpinput.CommandDispatchMouseEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}

func rawInsert(ctx context.Context, p *page.Page, text string) error {
	return p.Session().Call(ctx, cdpinput.CommandInsertText, cdpinput.InsertTextParams{Text: text}, nil)
}

func rawKey(ctx context.Context, p *page.Page, key string) error {
	for _, kind := range []cdpinput.DispatchKeyEventType{cdpinput.DispatchKeyEventTypeKeyDown,
		cdpinput.DispatchKeyEventTypeKeyUp} {
		e := cdpinput.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == cdpinput.DispatchKeyEventTypeKeyDown {
			e.Text = key
		}
		if err := p.Session().Call(ctx, cdpinput.CommandDispatchKeyEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}
