package tools

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// timing reports when requests of a kind begin, and how each ended: whether it was
// cancelled, and how long ago.
type timing struct {
	began chan struct{}
	ended chan ending
}

type ending struct {
	cancelled bool
	took      time.Duration
}

func timeRequests(server *Server, kind string) *timing {
	t := &timing{make(chan struct{}, 1000), make(chan ending, 1000)}
	server.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != kind {
				return next(ctx, method, req)
			}
			cancelled := make(chan time.Time, 1)
			stop := context.AfterFunc(ctx, func() { cancelled <- time.Now() })
			t.began <- struct{}{}
			result, err := next(ctx, method, req)
			if now := time.Now(); stop() {
				t.ended <- ending{}
			} else {
				t.ended <- ending{true, now.Sub(<-cancelled)}
			}
			return result, err
		}
	})
	return t
}

// underWay is how long a request runs before it is cancelled, so that it is really
// waiting: there is no event for that.
const underWay = 100 * time.Millisecond

// cancel makes a request, cancels it, and reports its end.
func (w *timing) cancel(t *testing.T, description string, request func(context.Context)) ending {
	t.Helper()
	for len(w.began) > 0 {
		<-w.began
	}
	for len(w.ended) > 0 {
		<-w.ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		request(ctx)
	}()
	<-w.began
	select {
	case <-time.After(underWay):
	case <-answered:
	}
	cancel()
	<-answered
	select {
	case e := <-w.ended:
		return e
	case <-time.After(time.Minute):
		t.Fatalf("%s did not end", description)
		return ending{}
	}
}

// atOnceWhenCancelled demands that a cancelled request ends because of that. By itself it
// ends after 10 s.
func (w *timing) atOnceWhenCancelled(t *testing.T, description string, request func(context.Context)) {
	t.Helper()
	e := w.cancel(t, description, request)
	for try := 1; try < 4 && !e.cancelled; try++ {
		e = w.cancel(t, description, request)
	}
	switch {
	case !e.cancelled:
		t.Errorf("%s was answered before it was cancelled", description)
	case e.took > 5*time.Second:
		t.Errorf("%s ended %v after it was cancelled", description, e.took)
	default:
		t.Logf("%s: %v", description, e.took)
	}
}

// A call that the host cancels ends, whatever it waits for.
func TestCancellation(t *testing.T) {
	browser := launchBrowser(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			select {
			case <-r.Context().Done():
			case <-t.Context().Done(): // a browser that lost its connection retries
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><button disabled>Never</button><p>Text</p>`)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })

	server := NewServer(attachedOptions(t, t.TempDir(), browser))
	calls := timeRequests(server, "tools/call")
	session, end := clientOf(t, server, nil)
	defer end()

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
		// The page's script cannot be stopped, but the call can. It runs last: the page is
		// unusable afterwards.
		{"browser_evaluate", map[string]any{"function": "() => { for (const end = Date.now() + 3000; Date.now() < " +
			"end;); }"}},
		{"browser_snapshot", nil},
	} {
		if c.name != "browser_snapshot" && c.name != "browser_evaluate" {
			if res, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "browser_navigate",
					Arguments: map[string]any{"url": site.URL}}); err != nil || res.IsError {
				t.Fatalf("%+v %v", res, err)
			}
		}
		calls.atOnceWhenCancelled(t, fmt.Sprint(c.name, c.args), func(ctx context.Context) {
			session.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: c.args})
		})
	}
}
