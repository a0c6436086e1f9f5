package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/vscodeipc"
)

// limits are two servers: an agent may reach one and not the other.
type limits struct {
	allowed, forbidden *httptest.Server
	port               string // of forbidden

	mu    sync.Mutex
	asked []string // the requests that forbidden received
}

func newLimits(t *testing.T) *limits {
	t.Helper()
	l := &limits{}
	l.forbidden = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.asked = append(l.asked, fmt.Sprintf("%s %s%s %s", r.Method, r.Host, r.URL, body))
		l.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Access-Control-Allow-Headers", "content-type,x-agent")
		w.Header().Set("Access-Control-Allow-Methods", "PUT,POST,DELETE")
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment")
		}
		io.WriteString(w, "<title>Forbidden</title>forbidden fruit")
	}))
	t.Cleanup(l.forbidden.Close)
	_, l.port, _ = net.SplitHostPort(l.forbidden.Listener.Addr().String())
	l.allowed = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch r.URL.Path {
		case "/redirect":
			w.Header().Set("Location", query.Get("to"))
			w.WriteHeader(atoi(t, query.Get("status")))
		case "/to":
			fmt.Fprintf(w, `<title>Allowed</title><meta http-equiv=refresh content="%s">`, query.Get("refresh"))
		default:
			fmt.Fprintf(w, `<title>Allowed</title>
<a id=link href="%[1]s/link">link</a> <a id=blank target=_blank rel=opener href="%[1]s/blank">blank</a> <a id=download download=x.txt href="%[1]s/file">download</a>
<form id=form method=post action="%[1]s/form"><input name=a value=secret><button id=post>post</button></form>`, l.forbidden.URL)
		}
	}))
	t.Cleanup(l.allowed.Close)
	return l
}

func (l *limits) reached() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.asked
	l.asked = nil
	return asked
}

// redirect is an address of the allowed server that redirects to another address.
func (l *limits) redirect(status int, to string) string {
	return fmt.Sprintf("%s/redirect?status=%d&to=%s", l.allowed.URL, status, url.QueryEscape(to))
}

// spellings are addresses of the forbidden server in all forms that a browser accepts.
func (l *limits) spellings() []string {
	var all []string
	for _, form := range []string{
		"http://127.0.0.1:PORT/plain", "HTTP://127.0.0.1:PORT/scheme", "hTTp://127.0.0.1:PORT/scheme", "http://2130706433:PORT/decimal", "http://0x7f000001:PORT/hex",
		"http://0177.0.0.1:PORT/octal", "http://0x7f.1:PORT/short", "http://127.1:PORT/short", "http://127.0.0.1:PORT/#fragment", "http://127.0.0.1:PORT/a/./b/../c",
		`http:\\127.0.0.1:PORT\backslash`, `http:/\127.0.0.1:PORT/mixed`, "http:///127.0.0.1:PORT/slashes", "ht\ntp://127.0.\t0.1:PORT/tab", "\x01 http://127.0.0.1:PORT/space ",
		"http://１２７．０．０．１:PORT/fullwidth", "http://127。0。0。1:PORT/dots", "http://%31%32%37.0.0.1:PORT/percent", "http://127.0.0.1.:PORT/dot", "http://127.0.0.1:0PORT/zero",
		"http://[::ffff:127.0.0.1]:PORT/mapped", "http://lOcAlHoSt:PORT/name", "http://localhost.:PORT/namedot", "http://ｌｏｃａｌｈｏｓｔ:PORT/fullname", "//127.0.0.1:PORT/relative",
	} {
		all = append(all, strings.ReplaceAll(form, "PORT", l.port))
	}
	return all
}

// browser_fetch reaches no other origin, whatever the spelling of its address and its
// redirects, with a body or a preflight too.
func TestFetchStaysWithinOrigins(t *testing.T) {
	l := newLimits(t)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	for name, flags := range map[string][]string{
		"allowed": {"--allowed-origins", l.allowed.URL},
		"blocked": {"--blocked-origins", "http://127.0.0.1:" + l.port + ";http://[::1]:" + l.port + ";http://localhost:" + l.port},
	} {
		t.Run(name, func(t *testing.T) {
			agent := host(t, dir, shop, flags...)
			mustTool(t, agent, "browser_navigate", map[string]any{"url": l.allowed.URL})
			check := func(args map[string]any) {
				t.Helper()
				text, err := tool(t, agent, "browser_fetch", args)
				if err == nil {
					t.Errorf("%q is answered: %s", args, text)
				}
				if asked := l.reached(); len(asked) > 0 {
					t.Errorf("%q reached %q", args, asked)
				}
			}
			for _, address := range l.spellings() {
				check(map[string]any{"url": address})
				if !strings.ContainsAny(address, "\n\x01") { // no header can contain these
					check(map[string]any{"url": l.redirect(http.StatusFound, address)})
				}
			}
			for _, status := range []int{301, 302, 303, 307, 308} {
				to := l.redirect(status, l.forbidden.URL+"/redirected")
				for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
					check(map[string]any{"url": to, "method": method})
					check(map[string]any{"url": l.redirect(status, l.forbidden.URL+"/redirected#own"), "method": method, "headers": map[string]string{"X-Agent": "1"}})
					check(map[string]any{"url": "HTTP" + strings.TrimPrefix(to, "http") + "#x", "method": method, "headers": map[string]string{"Content-Type": "application/json", "X-Agent": "1"}, "body": `{"stolen":1}`})
				}
				check(map[string]any{"url": l.redirect(status, to)})
			}
			check(map[string]any{"url": l.forbidden.URL + "/preflight", "method": "PUT", "headers": map[string]string{"X-Agent": "1"}, "body": "stolen"})
			if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": l.redirect(307, "/?redirected"), "method": "POST", "body": "x"}); !strings.Contains(text, "Allowed") {
				t.Errorf("a redirect within the allowed origin: %s", text)
			}
			if text := mustTool(t, agent, "browser_fetch", map[string]any{"url": "data:text/plain,here"}); !strings.Contains(text, "here") {
				t.Errorf("an address without a server: %s", text)
			}
		})
	}
}

// debug_start opens no other origin either. No browser resolves its address, so an
// ambiguous address is refused.
func TestDebugStartStaysWithinOrigins(t *testing.T) {
	e := openEditor(t, t.TempDir())
	e.on(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return vscodeipc.DebugStartResult{Session: "s1", Name: "Launch shop"}, nil
	})
	session := host(t, filepath.Dir(os.Getenv("XDG_DATA_HOME")), e.folder, "--allowed-origins", "http://localhost:3000", "--blocked-origins", "http://127.0.0.1:*")
	for _, address := range []string{"http://other.example/", "http://0x7f.1:3000/", `http:\\localhost:3000`, "http://user@localhost:3000/"} {
		if text, err := tool(t, session, "debug_start", map[string]any{"url": address}); err == nil || !strings.Contains(err.Error(), "is not allowed") {
			t.Errorf("%s: %s %v", address, text, err)
		}
	}
	mustTool(t, session, "debug_start", map[string]any{"url": "http://localhost:3000/"})
	e.mu.Lock()
	defer e.mu.Unlock()
	started := 0
	for _, call := range e.calls {
		if call.Command == vscodeipc.CommandDebugStart {
			started++
		}
	}
	if started != 1 {
		t.Errorf("the window was asked to start %d times, want once", started)
	}
}

// The agent's tab reaches no other origin either.
func TestTabStaysWithinOrigins(t *testing.T) {
	l := newLimits(t)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	for name, flags := range map[string][]string{
		"allowed": {"--allowed-origins", l.allowed.URL},
		"blocked": {"--blocked-origins", "http://127.0.0.1:" + l.port + ";http://[::1]:" + l.port + ";http://localhost:" + l.port},
	} {
		t.Run(name, func(t *testing.T) {
			agent := host(t, dir, shop, flags...)
			mustTool(t, agent, "browser_navigate", map[string]any{"url": l.allowed.URL})
			refused := func(tool_ string, args map[string]any) {
				t.Helper()
				text, err := tool(t, agent, tool_, args)
				if err == nil {
					t.Errorf("%s %q: %s", tool_, args, text)
				}
				if asked := l.reached(); len(asked) > 0 {
					t.Errorf("%s %q reached %q", tool_, args, asked)
				}
			}
			for _, address := range append(l.spellings(), "view-source:"+l.forbidden.URL, "http://"+l.allowed.Listener.Addr().String()+"@127.0.0.1:"+l.port+"/user", "blob:"+l.forbidden.URL+"/0a1b", "filesystem:"+l.forbidden.URL+"/temporary/x") {
				refused("browser_navigate", map[string]any{"url": address})
				refused("browser_tabs", map[string]any{"action": "new", "url": address})
			}
			if list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}); strings.Contains(list, " http://127.0.0.1:"+l.port) || strings.Contains(list, "Forbidden") {
				t.Errorf("tabs that were refused are left: %s", list)
			}
			mustTool(t, agent, "browser_navigate", map[string]any{"url": l.allowed.URL})
			for _, target := range []string{"#link", "#post", "#download"} {
				text, err := tool(t, agent, "browser_click", map[string]any{"target": target})
				if asked := l.reached(); len(asked) > 0 {
					t.Errorf("a click at %s reached %q: %s %v", target, asked, text, err)
				}
			}
			mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => { location.href = 'HTTP://0x7f.1:" + l.port + "/script'; }"})
			mustTool(t, agent, "browser_navigate", map[string]any{"url": l.allowed.URL + "/to?refresh=" + url.QueryEscape("0;url="+l.forbidden.URL+"/refresh")})
			mustTool(t, agent, "browser_wait_for", map[string]any{"expression": "document.readyState == 'complete'"})
			if title := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); title != `"Allowed"` {
				t.Errorf("the page is %s", title)
			}
			if asked := l.reached(); len(asked) > 0 {
				t.Errorf("a script or a refresh reached %q", asked)
			}
		})
	}
}
