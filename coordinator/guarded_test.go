package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

// versionAt requests the browser's version from an endpoint, with that origin's header
// unless it is empty. asked, if not nil, is called when the request has been sent.
func versionAt(t *testing.T, endpoint, origin string, asked func()) (status int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if asked != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { asked() }})
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/json/version", nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(text)
}

// TestHold: a client waits as long as --hold specifies, and then gets an error. A
// browser that comes in time serves it.
func TestHold(t *testing.T) {
	t.Parallel()
	short := start(t, t.TempDir(), "serve", "--hold", "300ms", "--workspace", t.TempDir())
	began := time.Now()
	status, body := versionAt(t, short.first, "", nil)
	if took := time.Since(began); status != http.StatusServiceUnavailable || took < 300*time.Millisecond ||
		!strings.Contains(body, "no browser that can be driven (waited 300ms for one). Start the debug session of the window on ") {
		t.Errorf("a hold of 300 ms: HTTP %d after %v: %s", status, took, body)
	}
	none := start(t, t.TempDir(), "serve", "--hold", "0", "--workspace", t.TempDir())
	if status, body := versionAt(t, none.first, "", nil); status != http.StatusServiceUnavailable || strings.Contains(body, "waited") {
		t.Errorf("without a hold: HTTP %d %s", status, body)
	}

	dir, workspace := t.TempDir(), t.TempDir()
	long := start(t, dir, "serve", "--hold", "50s", "--workspace", workspace)
	type answer struct {
		status int
		body   string
	}
	asked, got := make(chan struct{}), make(chan answer, 1)
	go func() {
		status, body := versionAt(t, long.first, "", func() { close(asked) })
		got <- answer{status, body}
	}()
	<-asked
	start(t, dir, "window", "--headless", "--workspace", workspace)
	if a := <-got; a.status != http.StatusOK || !strings.Contains(a.body, strings.TrimPrefix(long.first, "http://")) {
		t.Errorf("a client within the hold: HTTP %d %s", a.status, a.body)
	}
}

// TestAllowOrigin: a page may connect if --allow-origin names its origin. Otherwise only
// the DevTools front end may.
func TestAllowOrigin(t *testing.T) {
	dir := t.TempDir()
	plain := start(t, dir, "serve", "--hold", "0", "--workspace", t.TempDir())
	named := start(t, dir, "serve", "--hold", "0", "--workspace", t.TempDir(),
		"--allow-origin", "https://tool.example", "--allow-origin", "chrome-extension://abcdefghijklmnop")
	const refused, in = http.StatusForbidden, http.StatusServiceUnavailable // there is no browser
	for _, c := range []struct {
		endpoint *running
		origin   string
		status   int
	}{
		{plain, "https://tool.example", refused},
		{plain, "devtools://devtools", in},
		{named, "https://tool.example", in},
		{named, "chrome-extension://abcdefghijklmnop", in},
		{named, "devtools://devtools", in},
		{named, "https://tool.example:8443", refused},
		{named, "null", refused},
	} {
		if status, body := versionAt(t, c.endpoint.first, c.origin, nil); status != c.status {
			t.Errorf("%s from %s: HTTP %d %s, want %d", c.endpoint.cmd.Args[1:], c.origin, status, body, c.status)
		}
	}
	for _, args := range [][]string{{"--allow-origin", "null"}, {"--allow-origin", "https://tool.example/"}, {"--allow-origin", "*"}, {"--hold", "-1s"}, {"--hold", "soon"}} {
		cmd := command(t.Context(), t, dir, append([]string{"serve"}, args...)...)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitUsage {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
