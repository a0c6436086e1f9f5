package cdpproxy_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestStatusPage: the page has the endpoint's state. No name in it is executed or sends
// the token to another site.
func TestStatusPage(t *testing.T) {
	src := newSource(cdptest.BrowserURL(t))
	_, addr := serve(t, src, &cdpproxy.Options{Token: token, NoBrowserHelp: pressF5})
	conn := dialAs(t, addr, "<b>Agent</b>")
	read := func(texts ...string) httpAnswer {
		t.Helper()
		raw := ask(t, addr, "GET /"+token+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		for _, want := range texts {
			if !strings.Contains(raw.body, html.EscapeString(want)) {
				t.Errorf("no %q on the page:\n%s", want, raw.body)
			}
		}
		return raw
	}
	raw := read("http://"+addr+"/"+token, `browser "first"`, "Connected now: 1", "<b>Agent</b>", "/devtools/browser/x")
	if active := regexp.MustCompile(`(?i)<script|javascript:|<[^>]*\son[a-z]+\s*=|<(iframe|object|embed|form|link|img)|http-equiv`).FindString(raw.body); active != "" {
		t.Errorf("the page has %q", active)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
		"Referrer-Policy":         "no-referrer", "Cache-Control": "no-store",
		"Content-Type": "text/html; charset=utf-8",
	} {
		if got := raw.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	src.set("", "")
	if _, _, err := conn.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Fatal(err)
	}
	read("no browser now", "Press F5.")
}

// TestStatusOfAgents: the page shows who uses the browser without the endpoint, what
// clients did last, and that clients wait for a browser.
func TestStatusOfAgents(t *testing.T) {
	t.Parallel()
	src := newSource("")
	now := time.Now()
	_, addr := serve(t, src, &cdpproxy.Options{Token: token, About: func() cdpproxy.About {
		return cdpproxy.About{Program: "coordinator test", Access: "ask",
			Agents: func(context.Context) ([]cdpproxy.Agent, error) {
				return []cdpproxy.Agent{
					{Name: "<i>Claude</i>", Version: "2", Since: now, Last: &cdpproxy.LastAction{Time: now,
						Text: "click button \"Buy\""}},
					{Name: "New", Since: now},
				}, errors.New("the window is <slow>")
			}}
	}})
	ctx, cancel := context.WithCancel(testContext(t))
	left := make(chan struct{})
	go func() {
		defer close(left)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/"+token+"/json/version", nil)
		if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
			res.Body.Close()
		}
	}()
	// page is the first that has the text: there is no event for it.
	page := func(text string) string {
		t.Helper()
		for limit := time.Now().Add(time.Minute); ; {
			body := ask(t, addr, "GET /"+token+" HTTP/1.1\r\nHost: localhost\r\n\r\n").body
			if strings.Contains(body, text) {
				return body
			}
			if time.Now().After(limit) {
				t.Fatalf("no %q on the page:\n%s", text, body)
			}
		}
	}
	body := page("no browser now, and 1 client waits")
	for _, want := range []string{
		"Connected now: 2", "&lt;i&gt;Claude&lt;/i&gt; 2<td>click button &#34;Buy&#34;, ", "<td>New<td>–",
		"the window is &lt;slow&gt;", "Served by <code>coordinator test</code>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q on the page:\n%s", want, body)
		}
	}
	cancel()
	<-left
	page("no browser now.")
	src.set("first", "ws://127.0.0.1:9/devtools/browser/x")
	page("now ask.")
}
