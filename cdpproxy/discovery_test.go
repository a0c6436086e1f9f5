package cdpproxy_test

import (
	"browser-coordinator/internal/cdptest"
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// httpAnswer is an HTTP response as a client sees it.
type httpAnswer struct {
	status int
	header http.Header
	length int64 // -1: chunked
	body   string
}

// ask sends one request as bytes: net/http cannot send a Host without a port, or no
// Host.
func ask(t *testing.T, addr, request string) httpAnswer {
	t.Helper()
	conn := connect(t, addr)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	return httpAnswer{res.StatusCode, res.Header, res.ContentLength, string(body)}
}

// ids match the part that differs between two tabs.
var ids = regexp.MustCompile(`[0-9A-F]{32}`)

// TestDiscoveryAsChromium: every discovery request gets the browser's own response,
// except for the address.
func TestDiscoveryAsChromium(t *testing.T) {
	t.Parallel()
	c := cdptest.Launch(t) // no other test opens or closes its tabs
	browser, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	_, addr := serve(t, newSource(c.URL()), nil)
	through := openTab(t, addr)
	for _, path := range []string{
		"/json", "/json/", "/json/list", "/json/list/", "/json/list?t=1", "/json/list?for_tab", "/json/version",
		"/json/version/",
		"/json/protocol", "/json/protocol/", "/json/new", "/json/new?about:blank", "/json/nonsense",
		"/json/activate/ID", "/json/activate/ID/", "/json/activate", "/json/activate/none", "/json/close",
		"/json/close/none",
	} {
		for _, method := range []string{"GET", "PUT", "POST", "HEAD"} {
			for _, host := range []string{"127.0.0.1:1", "localhost"} {
				name := fmt.Sprintf("%s %s of %s", method, path, host)
				request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", method, strings.Replace(path, "ID",
					through, 1), host)
				switch asked := path == "/json/version" || path == "/json/new?about:blank" ||
					path == "/json/activate/none"; {
				case method == "GET" && (host != "localhost" || asked):
				case method != "GET" && host != "localhost" && asked:
				default:
					continue // it would add nothing: the endpoint forwards the method
				}
				want, got := ask(t, browser.Host, request), ask(t, addr, request)
				// A browser that has just started, and its tabs, are still
				// settling. So the test waits until the browser's own list is the
				// same before and after.
				for again := want; lists(path); want = again {
					if again = ask(t, browser.Host, request); same(again.body) == same(want.body) {
						break
					}
					got = ask(t, addr, request)
				}
				if got.status != want.status || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
					t.Errorf("%s: HTTP %d %s, the browser itself: %d %s", name, got.status,
						got.header.Get("Content-Type"), want.status, want.header.Get("Content-Type"))
				}
				if got.length != int64(len(got.body)) && method != "HEAD" {
					t.Errorf("%s: Content-Length %d of %d bytes", name, got.length, len(got.body))
				}
				own := func(a httpAnswer) string {
					return strings.ReplaceAll(a.body, host+"/devtools/",
						addr+"/devtools/")
				}
				if same(got.body) != same(own(want)) {
					t.Errorf("%s:\n%s\nthe browser itself:\n%s", name, got.body, own(want))
				}
				for _, tab := range []httpAnswer{want, got} {
					if strings.HasPrefix(path, "/json/new") && tab.status == http.StatusOK {
						closeTab(t, addr, ids.FindString(tab.body))
					}
				}
			}
		}
	}
}

// lists reports whether the response to a path is a list of targets.
func lists(path string) bool {
	return path == "/json" || strings.HasPrefix(path, "/json/list")
}

// closeTab closes a tab and waits until it has gone: the browser responds earlier,
// and still lists the tab. The tab's connection ends with it.
func closeTab(t *testing.T, addr, id string) {
	t.Helper()
	conn := dial(t, addr, "/devtools/page/"+id)
	if status, body := get(t, addr, "/json/close/"+id, nil); status != 200 {
		t.Fatalf("/json/close/%s: HTTP %d %s", id, status, body)
	}
	ctx := testContext(t)
	var err error
	for err == nil {
		_, _, err = conn.Read(ctx)
	}
	if ctx.Err() != nil {
		t.Fatalf("the tab %s stays: %v", id, err)
	}
}

// same removes insignificant differences: whitespace, the ids of tabs, whether a
// new tab has its title yet, and the order of a list. The most recently used tab
// comes first in a list.
func same(body string) string {
	body = strings.ReplaceAll(body, `"title": ""`, `"title": "about:blank"`)
	words := strings.Fields(ids.ReplaceAllString(body, "ID"))
	slices.Sort(words)
	return strings.Join(words, " ")
}
