package page

import (
	"fmt"
	"testing"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

// The benchmarks compare an action with the raw commands that it needs, on a page of 400
// items.
func benchmarkPage(b *testing.B) *Page {
	b.Helper()
	ctx := b.Context()
	browser, err := Connect(ctx, shared.URL(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { browser.Close() })
	p, err := browser.NewPage(ctx, "data:text/html,<ul id=l></ul><script>let h='';for(let i=0;i<400;i++)h+='<li><a href=%23>Item '%2Bi%2B'</a> <button onclick=1>Add '%2Bi%2B'</button></li>';l.innerHTML=h</script>")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = browser.ClosePage(b.Context(), p.ID()) })
	s, err := p.Reader().Snapshot(ctx, snapshot.Options{})
	if err != nil || s.Refs != 800 {
		b.Fatalf("%d refs, %v", s.Refs, err)
	}
	return p
}

func BenchmarkEvaluate(b *testing.B) {
	p := benchmarkPage(b)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			if _, err := protocol.Call(b.Context(), p.session, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := p.Evaluate(b.Context(), "() => 1", ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkClick(b *testing.B) {
	p := benchmarkPage(b)
	if _, err := p.Act(b.Context(), p.Input().Click("e2", input.ClickOptions{})); err != nil {
		b.Fatal(err)
	}
	at := pointOf(b, p, "e2")
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			if err := rawMouse(b.Context(), p, at, rawMove, rawPress, rawRelease); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Act(b.Context(), p.Input().Click("e2", input.ClickOptions{})); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	p := benchmarkPage(b)
	for _, opts := range []snapshot.Options{{}, {Interactive: true}} {
		b.Run(fmt.Sprintf("interactive=%v", opts.Interactive), func(b *testing.B) {
			for b.Loop() {
				s, err := p.Reader().Snapshot(b.Context(), opts)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(s.Text)), "chars")
			}
		})
	}
}

func BenchmarkScreenshot(b *testing.B) {
	p := benchmarkPage(b)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			if _, err := protocol.Call(b.Context(), p.session, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Screenshot(b.Context(), ScreenshotOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
