package tools

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
)

// A call that the host cancels ends within 100 ms, whatever it waits for.
func TestCancellation(t *testing.T) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	browser, err := chrome.Launch(t.Context(), chrome.Options{Executable: found.Path, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := browser.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><button disabled>Never</button><p>Text</p>`)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })

	server := NewServer(Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test", Attach: browser.URL()})
	endings := make(chan time.Duration, 10) // from the cancellation to the end
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "tools/call" {
				return next(ctx, method, req)
			}
			cancelled := make(chan time.Time, 1)
			stop := context.AfterFunc(ctx, func() { cancelled <- time.Now() })
			result, err := next(ctx, method, req)
			if ended := time.Now(); !stop() {
				endings <- ended.Sub(<-cancelled)
			}
			return result, err
		}
	})
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { session.Close(); <-ended }()

	for _, c := range []struct {
		name string
		args map[string]any
	}{
		{"browser_wait_for", map[string]any{"time": 20}},
		{"browser_wait_for", map[string]any{"text": "never there"}},
		{"browser_click", map[string]any{"target": "button"}},
		{"browser_evaluate", map[string]any{"function": "() => new Promise(() => {})"}},
		{"browser_fetch", map[string]any{"url": site.URL + "/hang"}},
		{"browser_navigate", map[string]any{"url": site.URL + "/hang"}},
		// What the page does cannot be stopped, but the call can. It is the last:
		// the page is good for nothing afterwards.
		{"browser_evaluate", map[string]any{"function": "() => { for (const end = Date.now() + 3000; Date.now() < end;); }"}},
		{"browser_snapshot", nil},
	} {
		if c.name != "browser_snapshot" && c.name != "browser_evaluate" {
			if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_navigate", Arguments: map[string]any{"url": site.URL}}); err != nil || res.IsError {
				t.Fatalf("%+v %v", res, err)
			}
		}
		// Long enough to be under way: there is no event for that.
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: c.args})
		cancel()
		if err == nil {
			t.Errorf("%s %v was not cancelled: %+v", c.name, c.args, res.Content[0])
			continue
		}
		select {
		case took := <-endings:
			if t.Logf("%s: %v", c.name, took); took > 100*time.Millisecond {
				t.Errorf("%s %v ended %v after it was cancelled", c.name, c.args, took)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s %v did not end", c.name, c.args)
		}
	}
}
