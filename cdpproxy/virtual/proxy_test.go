package virtual_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// named is a cdpproxy.Source that a test sets.
type named struct {
	mu      sync.Mutex
	browser *cdpproxy.Browser
	changed chan struct{}
}

func (n *named) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.browser, n.changed
}

func (n *named) set(b *cdpproxy.Browser) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.browser = b
	close(n.changed)
	n.changed = make(chan struct{})
}

// onlyLooks is a rule that refuses to navigate.
type onlyLooks struct{}

func (onlyLooks) Judge(m *cdpproxy.Message) cdpproxy.Verdict {
	if m.Method == "Page.navigate" {
		return cdpproxy.Verdict{Action: cdpproxy.Refuse, Reason: "this client only looks"}
	}
	return cdpproxy.Verdict{}
}

// TestBehindTheEndpoint: cdpproxy accepts it as a browser. Its rule applies, no
// response contains the secret, clients keep their names, and a restart counts as
// one.
func TestBehindTheEndpoint(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	source := &named{changed: make(chan struct{}), browser: &cdpproxy.Browser{Generation: 1, Name: "first", URL: s.url}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := cdpproxy.New(source, &cdpproxy.Options{Rule: onlyLooks{}})
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := proxy.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	own := ln.Addr().String()
	get := func(method, path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+own+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res.Status, string(body), err)
		}
		return string(body)
	}
	secret := strings.Split(s.url, "/")[3]
	for _, path := range []string{"/json/version", "/json/version/", "/json", "/json/list"} {
		body := get("GET", path)
		if strings.Contains(body, secret) || !strings.Contains(body, `"ws://`+own+`/devtools/`) {
			t.Error(path, body)
		}
	}
	var made struct{ ID, DevtoolsFrontendURL string }
	if err := json.Unmarshal([]byte(get("PUT", "/json/new?"+s.site+"/new")), &made); err != nil || !strings.HasSuffix(made.DevtoolsFrontendURL, "?ws="+own+"/devtools/page/"+made.ID) {
		t.Error(err, made)
	}
	page := cdptest.Dial(t, "ws://"+own+"/devtools/page/"+made.ID)
	if got := page.Evaluate("", "6*7"); got != "42" {
		t.Error(got)
	}
	get("GET", "/json/close/"+made.ID)
	page.Ended()

	p := cdptest.Dial(t, "ws://"+own+"/devtools/browser/any")
	session := s.attach(p)
	if m := p.Try(session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, s.site)); m.Error == nil || m.Error.Message != "this client only looks" {
		t.Error(m.Error)
	}
	if got := p.Evaluate(session, "'x'.repeat(3e7).length + location.href"); got != "30000000about:blank" {
		t.Error(got)
	}
	named := cdptest.DialAs(t, "ws://"+own+"/devtools/browser/any", "Playwright/1.65.1 (x64)")
	named.Call(s.attach(named), "Fetch.enable", "", nil)
	refused(t, p, session, "Playwright", "Fetch.enable", "")
	source.set(&cdpproxy.Browser{Generation: 2, Name: "second", URL: s.url})
	if err := p.Ended(); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Error(err)
	}
}
