package cdpproxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestStatusText: the text has the endpoint's address and browser, and no browser takes it for
// a page.
func TestStatusText(t *testing.T) {
	src := newSource(cdptest.BrowserURL(t))
	_, addr := serve(t, src, &cdpproxy.Options{Token: token, NoBrowserHelp: pressF5})
	conn := dialAs(t, addr, "<b>Agent</b>")
	read := func(texts ...string) {
		t.Helper()
		raw := ask(t, addr, "GET /"+token+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		for _, want := range texts {
			if !strings.Contains(raw.body, want) {
				t.Errorf("no %q in:\n%s", want, raw.body)
			}
		}
		for name, want := range map[string]string{
			"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		} {
			if got := raw.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	read("http://"+addr+"/"+token, `browser "first"`, "Clients: 1, ")
	src.set("", "")
	if _, _, err := conn.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Fatal(err)
	}
	read("no browser now", "Press F5.")
}

// TestStatusOfWaiting: the text has how many clients wait for a browser.
func TestStatusOfWaiting(t *testing.T) {
	t.Parallel()
	src := newSource("")
	_, addr := serve(t, src, &cdpproxy.Options{Token: token})
	ctx, cancel := context.WithCancel(testContext(t))
	left := make(chan struct{})
	go func() {
		defer close(left)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/"+token+"/json/version", nil)
		if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
			res.Body.Close()
		}
	}()
	// There is no event for a change of the text.
	await := func(text string) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); ; {
			body := ask(t, addr, "GET /"+token+" HTTP/1.1\r\nHost: localhost\r\n\r\n").body
			if strings.Contains(body, text) {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("no %q in:\n%s", text, body)
			}
		}
	}
	await("and 1 without a browser")
	cancel()
	<-left
	await("and 0 without a browser")
}
