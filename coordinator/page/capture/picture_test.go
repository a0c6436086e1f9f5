package capture_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagelock"
	"browser-coordinator/internal/pagetest"
)

const long = `<!doctype html><body style="margin:0"><div style="height:3000px;background:linear-gradient(red,blue)">`

const sizes = "[innerWidth, innerHeight, devicePixelRatio, visualViewport.width].join()"

// Pictures of one page through several connections, some of whose callers give up or leave midway.
func TestPicturesAtOnce(t *testing.T) {
	p, _ := pagetest.Open(t, long)
	want, drawn := pagetest.Evaluate(t, p, sizes), drawnSize(t, p)
	full, part := capture.Options{FullPage: true}, capture.Options{Clip: &capture.Clip{Width: 60, Height: 40}}
	for round := range longtest.Form(t, 8, 20) {
		leaving := pagetest.Connect(t)
		other := must.Get(leaving.Page(t.Context(), p.ID()))(t)
		third := pagetest.Attach(t, p)
		ctx, giveUp := context.WithTimeout(t.Context(), time.Duration(round)*10*time.Millisecond)
		var taking sync.WaitGroup
		take := func(ctx context.Context, p *page.Page, opts capture.Options) {
			taking.Go(func() {
				if _, err := p.Screen().Screenshot(ctx, opts); err != nil && ctx.Err() == nil &&
					!errors.Is(err, page.ErrBrowserGone) {
					t.Errorf("round %d, %+v: %v", round, opts, err)
				}
			})
		}
		take(t.Context(), p, full)
		take(ctx, third, full)
		take(t.Context(), other, part)
		take(t.Context(), other, full)
		<-ctx.Done()
		must.Do(t, leaving.Close()) // during the captures
		taking.Wait()
		giveUp()
		pagetest.Expect(t, p, sizes, want)
		if got := drawnSize(t, p); got != drawn || t.Failed() {
			t.Fatalf("round %d: %s are drawn, were %s", round, got, drawn)
		}
	}
}

// drawnSize is the size in which the page is drawn.
func drawnSize(t *testing.T, p *page.Page) string {
	t.Helper()
	img := must.Get(p.Screen().Screenshot(t.Context(), capture.Options{Device: true}))(t)
	return fmt.Sprint(pagetest.Decode(t, img).Bounds().Size())
}

// Equal pictures that are wished for while one is taken are one.
func TestEqualPictures(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html>short`)
	images := make([]capture.Image, 20)
	var taking sync.WaitGroup
	for n := range images {
		taking.Go(func() {
			img, err := p.Screen().Screenshot(t.Context(), capture.Options{})
			if err != nil {
				t.Error(err)
			}
			images[n] = img
		})
	}
	taking.Wait()
	if t.Failed() {
		return
	}
	captures := map[*byte]bool{}
	for _, img := range images {
		captures[&img.Data[0]] = true
	}
	if len(captures) > len(images)/2 {
		t.Errorf("%d captures for %d equal pictures at once", len(captures), len(images))
	}
}

// A picture of a page that loads another document meanwhile is one of the next document.
func TestPictureWhileReloading(t *testing.T) {
	for name, opts := range map[string]capture.Options{"viewport": {}, "full page": {FullPage: true}} {
		t.Run(name, func(t *testing.T) {
			p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(10 * time.Millisecond) // a server that takes its time
				fmt.Fprint(w, long)
			}))
			want := pagetest.Evaluate(t, p, sizes)
			for round := range longtest.Form(t, 12, 24) {
				reload := fmt.Sprintf("void setTimeout(() => location.reload(), %d)", round*10)
				if _, err := p.Session().Start(t.Context(), "Runtime.evaluate", map[string]any{"expression": reload}); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				img, err := p.Screen().Screenshot(t.Context(), opts)
				if took := time.Since(start); err != nil || took > 8*time.Second {
					t.Fatalf("round %d: %v after %v", round, err, took)
				}
				if r, _, _, _ := pagetest.Decode(t, img).At(5, 5).RGBA(); r>>8 < 240 {
					t.Errorf("round %d: red is %d: the picture is of no document", round, r>>8)
				}
				pagetest.WaitFor(t, p, page.WaitOptions{Expression: `document.readyState === "complete"`})
				pagetest.Expect(t, p, sizes, want)
			}
		})
	}
}

// A tab that has gone to the background since its last action draws nothing until it is made to.
func TestPictureOfATabThatWentBehind(t *testing.T) {
	b := pagetest.Connect(t)
	for name, opts := range map[string]capture.Options{"viewport": {}, "full page": {FullPage: true}} {
		t.Run(name, func(t *testing.T) {
			site := httptest.NewServer(pagetest.HTML(long))
			t.Cleanup(site.Close)
			p := pagetest.NewPage(t, b)
			must.Do(t, b.Activate(t.Context(), p.ID()))
			pagetest.Navigate(t, p, site.URL)
			front := pagetest.NewPage(t, b)
			must.Do(t, b.Activate(t.Context(), front.ID()))
			for range 3 {
				start := time.Now()
				must.Get(p.Screen().Screenshot(t.Context(), opts))(t)
				if took := time.Since(start); took > 3*time.Second { // the browser draws one by itself after about 4 s
					t.Errorf("a picture took %v", took)
				}
			}
		})
	}
}

// Without a folder for locks, what is visible can be seen; what needs a lock is refused, with the reason.
func TestPicturesWithoutAFolder(t *testing.T) {
	p, _ := pagetest.Open(t, long)
	t.Setenv("XDG_STATE_HOME", os.DevNull)
	must.Get(p.Screen().Screenshot(t.Context(), capture.Options{}))(t)
	_, err := p.Screen().Screenshot(t.Context(), capture.Options{FullPage: true})
	if !errors.Is(err, pagelock.ErrNoFolder) || !strings.Contains(err.Error(), os.DevNull) {
		t.Errorf("a full page: %v", err)
	}
}

// A page that another tool's overlapping captures have left in their size gets its own again, also if it was
// so before anybody looked; one whose size a client emulates keeps that, and notices nothing.
func TestStuckPage(t *testing.T) {
	pagetest.UseBrowser(t, chrome.Options{Headless: true})
	for name, seen := range map[string]bool{"seen before": true, "never seen": false} {
		t.Run(name, func(t *testing.T) {
			b := pagetest.Connect(t)
			p, _ := pagetest.ServeIn(t, b, pagetest.HTML(long))
			must.Do(t, b.Activate(t.Context(), p.ID()))
			must.Get(p.Screen().Screenshot(t.Context(), capture.Options{}))(t)
			want := pagetest.Evaluate(t, p, sizes)
			breakPage(t, p)
			if !seen {
				p = pagetest.Attach(t, p)
			}
			drawn := drawnSize(t, p)
			pagetest.Expect(t, p, sizes, want)
			if sentence := p.Healed(t.Context()); !strings.Contains(sentence, "stuck at 60 × 40") {
				t.Errorf("after %s were drawn: %q", drawn, sentence)
			}
			if sentence := p.Healed(t.Context()); sentence != "" {
				t.Errorf("again: %q", sentence)
			}
		})
	}
	t.Run("emulated", func(t *testing.T) {
		p, _ := pagetest.Open(t, long)
		must.Get(p.Screen().Screenshot(t.Context(), capture.Options{}))(t)
		other := pagetest.Attach(t, p)
		pagetest.Evaluate(t, p, "resizes = 0, onresize = () => resizes++, 0")
		must.Do(t, other.Session().Call(t.Context(), "Emulation.setDeviceMetricsOverride", map[string]any{
			"width": 300, "height": 200, "deviceScaleFactor": 0, "mobile": false,
		}, nil))
		pagetest.WaitFor(t, p, page.WaitOptions{Expression: "innerWidth === 300 && resizes === 1"})
		if got := drawnSize(t, p); got != "(300,200)" {
			t.Errorf("%s are drawn", got)
		}
		if sentence := p.Healed(t.Context()); sentence != "" {
			t.Error(sentence)
		}
		pagetest.Expect(t, p, "[innerWidth, innerHeight, resizes].join()", `"300,200,1"`)
	})
}

// breakPage has two other clients take pictures at once.
func breakPage(t *testing.T, p *page.Page) {
	t.Helper()
	clip := map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 60, "height": 40, "scale": 1}}
	clients := []*page.Page{pagetest.Attach(t, p), pagetest.Attach(t, p)}
	for range 3 {
		var taking sync.WaitGroup
		for _, client := range clients {
			taking.Go(func() {
				if err := client.Session().Call(t.Context(), "Page.captureScreenshot", clip, nil); err != nil {
					t.Error(err)
				}
			})
		}
		taking.Wait()
	}
}
