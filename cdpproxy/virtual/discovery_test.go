package virtual_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
)

var (
	targetIDs = regexp.MustCompile(`[0-9A-F]{32}`)
	guids     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// compared is the significant part of a response: no whitespace, no ids, and of a
// list only what the debugger has, without the browser's own windows.
func compared(body string) string {
	var value any
	if json.Unmarshal([]byte(body), &value) == nil {
		if list, ok := value.([]any); ok {
			value = slices.DeleteFunc(list, func(target any) bool { return target.(map[string]any)["type"] == "browser_ui" })
		}
		if object, ok := value.(map[string]any); ok {
			delete(object, "File-Path-Style") // no page reports it
		}
		b, _ := json.Marshal(value)
		body = string(b)
	}
	body = strings.ReplaceAll(body, `"title":""`, `"title":"about:blank"`) // a new tab may have none yet
	return guids.ReplaceAllString(targetIDs.ReplaceAllString(body, "ID"), "ID")
}

// TestDiscoveryAsChromium: every discovery request over HTTP gets the browser's own
// response, except for the address.
func TestDiscoveryAsChromium(t *testing.T) {
	s := newSceneIn(t, cdptest.Launch(t).URL(), false)
	s.get("GET", "/json/list") // until the page is ready
	browser, own := strings.Split(s.debug.url, "/")[2], strings.Split(s.url, "/")[2]
	_, prefix, _ := strings.Cut(s.http(), own)
	ask := func(method, host, path, more string) (int, string, string) {
		t.Helper()
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, path, host, more)
		res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusSwitchingProtocols {
			return res.StatusCode, "", ""
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Content-Type"), string(body)
	}
	for _, path := range []string{
		"/json", "/json/", "/json/list", "/json/list/", "/json/list?t=1", "/json/version", "/json/version/",
		"/json/protocol", "/json/protocol/", "/json/new", "/json/new?about:blank", "/json/nonsense", "/json/nonsense/", "/json/list/x",
		"/json/activate/ID", "/json/activate/ID/", "/json/activate", "/json/activate/none", "/json/close", "/json/close/none", "/json/close/", "/json/version/x", "/json/protocol/x",
	} {
		for _, method := range []string{"GET", "PUT", "POST", "HEAD"} {
			if method != "GET" && (strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/x") || strings.Contains(path, "protocol")) {
				continue // it would add nothing
			}
			asked := strings.Replace(path, "ID", s.debug.only().target, 1)
			status, kind, body := ask(method, browser, asked, "")
			gotStatus, gotKind, got := ask(method, own, prefix+asked, "")
			want := strings.ReplaceAll(body, browser+"/devtools/", own+prefix+"/devtools/")
			if gotStatus != status || gotKind != kind || compared(got) != compared(want) {
				t.Errorf("%s %s: HTTP %d %s\n%.900s\nthe browser itself: HTTP %d %s\n%.900s", method, path, gotStatus, gotKind, compared(got), status, kind, compared(want))
			}
			if strings.HasPrefix(path, "/json/new") && status == http.StatusOK {
				for _, body := range []string{body, got} {
					ask("GET", browser, "/json/close/"+targetIDs.FindString(body[strings.Index(body, `"id"`):]), "")
				}
			}
		}
	}
	const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, path := range []string{"/devtools/page/ID", "/devtools/page/none", "/devtools/page/", "/devtools/browser/none", "/devtools/browser", "/devtools/none", "/none"} {
		asked := strings.Replace(path, "ID", s.debug.only().target, 1)
		status, kind, want := ask("GET", browser, asked, upgrade)
		gotStatus, gotKind, got := ask("GET", own, prefix+asked, upgrade)
		if gotStatus != status || gotKind != kind || got != want {
			t.Errorf("the WebSocket %s: HTTP %d %s %q, the browser itself: HTTP %d %s %q", path, gotStatus, gotKind, got, status, kind, want)
		}
	}
}
