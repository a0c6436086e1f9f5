package page_test

import (
	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/fetch"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/video"
	"browser-coordinator/internal/pagetest"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// A program that does not read the browser's events in time loses the connection, not the browser, and its
// errors say so.
func TestMoreEventsThanAreRead(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p := pagetest.NewPage(t, b)
	hangs := make(chan error, 1)
	go func() {
		_, _, err := p.Evaluate(t.Context(), "waits = true, new Promise(() => {})", "", page.Bounds{})
		hangs <- err
	}()
	pagetest.WaitFor(t, p, page.WaitOptions{Expression: "window.waits"})
	release := b.HoldEvents()
	flood := map[string]any{"expression": "for (let i = 0; i < 17_000; i++) console.debug(i)"}
	if err := p.Session().Call(t.Context(), "Runtime.evaluate", flood, nil); err != nil {
		t.Error(err)
	}
	release()
	<-b.Done()
	_, _, after := p.Evaluate(t.Context(), "1", "", page.Bounds{})
	for during, err := range map[string]error{"during": <-hangs, "after": after} {
		if !errors.As(err, new(*page.DisconnectedError)) || !errors.Is(err, page.ErrBrowserGone) ||
			!strings.Contains(err.Error(), "reported more than this program could read in time") {
			t.Errorf("%s: %v", during, err)
		}
	}
	if !errors.Is(after, page.ErrUnsent) {
		t.Errorf("after: %v was sent", after)
	}
}

// A call on a page whose connection was closed fails at once. The user may have been asked for
// longer than the debug session lasted.
func TestCallsAfterTheConnection(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, pagetest.HTML(`<!doctype html><button id=b>Button</button>`))
	if _, err := p.Highlighter().Show(t.Context(), "#b"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	ctx := t.Context()
	calls := map[string]func() error{
		"record the user": func() error {
			_, err := p.Observer().Record(ctx, time.Minute, func() {})
			return errors.Join(err, p.Observer().Recording())
		},
		"record a video": func() error {
			_, err := p.Recorder().Start(ctx, video.Settings{IsOutside: func(string) bool { return false }}, func(write func(*os.File) error) (string, int64, error) {
				return "", 0, errors.New("a file is made")
			})
			return err
		},
		"highlight": func() error { _, err := p.Highlighter().Show(ctx, "#b"); return err },
		"hide":      func() error { _, err := p.Highlighter().Hide(ctx); return err },
		"click":     func() error { _, err := p.Act(ctx, p.Input().Click("#b", input.ClickOptions{})); return err },
		"evaluate":  func() error { _, _, err := p.Evaluate(ctx, "1", "", page.Bounds{}); return err },
		"navigate":  func() error { _, err := p.Navigate(ctx, url); return err },
		"snapshot":  func() error { _, err := p.Reader().Snapshot(ctx, snapshot.Options{}); return err },
		"picture":   func() error { _, err := p.Screen().Screenshot(ctx, capture.Options{}); return err },
		"pick":      func() error { _, err := p.Picker().Pick(ctx, time.Minute, func() {}); return err },
		"fetch":     func() error { _, err := p.Fetcher().Fetch(ctx, fetch.Request{URL: url}); return err },
		"audit":     func() error { _, err := p.Auditor().Audit(ctx, ""); return err },
		"inspect":   func() error { _, err := p.Inspector().Inspect(ctx, "#b"); return err },
		"trace":     func() error { return p.Profiler().StartTrace(ctx) },
		"heap":      func() error { _, err := p.Profiler().HeapSnapshot(ctx, io.Discard); return err },
		"state": func() error {
			_, err := p.Storage().State(ctx, func(string) bool { return false })
			return err
		},
		"limit": func() error {
			return p.Guard().Limit(ctx, guard.Bounds{Open: func(string) error { return nil }})
		},
		"wait": func() error {
			_, err := p.WaitFor(ctx, page.WaitOptions{Text: "never", Timeout: time.Minute})
			return err
		},
		"list": func() error { _, err := b.Pages(ctx); return err },
	}
	for name, call := range calls {
		ended := make(chan error, 1)
		go func() { ended <- call() }()
		select {
		case err := <-ended:
			if !errors.Is(err, page.ErrBrowserGone) && !errors.Is(err, cdp.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s does not return", name)
		}
	}
	if downloaded := b.Downloaded(context.WithoutCancel(ctx), url); len(downloaded) > 0 {
		t.Errorf("downloaded: %v", downloaded)
	}
}
