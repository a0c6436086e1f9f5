package cdpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// get asks the endpoint at addr; "Host" in headers replaces the host.
func get(t testing.TB, addr, path string, headers map[string]string) (int, string) {
	t.Helper()
	status, body, err := tryGet(addr, path, headers)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func tryGet(addr, path string, headers map[string]string) (int, string, error) {
	req, err := http.NewRequest("GET", "http://"+addr+path, nil)
	if err != nil {
		return 0, "", err
	}
	for name, value := range headers {
		if name == "Host" {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// connectAsChild runs in this test binary when it is started as another user: it
// sends requests to the endpoints at these addresses and prints the responses.
func connectAsChild(addr string) {
	if addr, ok := strings.CutPrefix(addr, manyOf); ok {
		manyAsChild(addr)
		return
	}
	if addr, ok := strings.CutPrefix(addr, impostorAt); ok {
		impostorAsChild(addr)
		return
	}
	for addr := range strings.SplitSeq(addr, " ") {
		_, body, err := tryGet(addr, "/json/version", nil)
		if err != nil {
			body = err.Error()
		}
		conn, res, err := websocket.Dial(context.Background(), "ws://"+addr+"/devtools/browser/x", nil)
		if err == nil {
			conn.CloseNow()
		}
		if res != nil {
			fmt.Printf("%s\nWebSocket: %d\n\n", strings.TrimSpace(body), res.StatusCode)
		}
	}
}

const manyOf = "a many of "

// manyAsChild opens more connections than another user may, and prints how many of
// the last were closed. Once its input ends, it sends a request on one of the
// others.
func manyAsChild(addr string) {
	const kept, more = 256, 20
	var conns []net.Conn
	for range kept + more {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			fmt.Println(err)
			return
		}
		conns = append(conns, conn)
	}
	closed, deadline := 0, time.Now().Add(5*time.Second)
	for _, conn := range conns[kept:] {
		conn.SetDeadline(deadline)
		if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	fmt.Printf("the last %d of %d are closed\n", closed, len(conns))
	io.Copy(io.Discard, os.Stdin)
	conn := conns[0]
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	io.WriteString(conn, "GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
		fmt.Printf("%s %v\n", answer, err)
		return
	}
	fmt.Println("refused, and closed")
}

const token = "5b3c8f0e6f1d4f0c9a7e2b1d8c6a4f3e5b3c8f0e6f1d4f0c9a7e2b1d8c6a4f3e"

// TestWhoGetsIn tries every relevant combination and checks what a client sees: it
// is served, or it gets the reason and the next step. For a refused client the
// browser does not even get a connection.
func TestWhoGetsIn(t *testing.T) {
	browser, connections := counted(t, cdptest.BrowserURL(t))
	src := newSource(browser)
	_, open := serve(t, src, &cdpproxy.Options{Token: token, AllowOrigins: []string{"https://tool.example"}})
	_, strict := serve(t, src, &cdpproxy.Options{Token: token, RequireToken: true})
	_, port, _ := net.SplitHostPort(open)

	for _, c := range []struct {
		name    string
		addr    string
		path    string
		headers map[string]string
		status  int
		text    string
	}{
		{"same user", open, "/json/version", nil, 200, `"ws://` + open + `/devtools/browser/`},
		{"slash", open, "/json/version/", nil, 200, `"ws://` + open + `/devtools/browser/`},
		{"list", open, "/json/list/", nil, 200, `"ws://` + open + `/devtools/page/`},
		{"list front end", open, "/json", nil, 200, `?ws=` + open + `/devtools/page/`},
		{"protocol", open, "/json/protocol", nil, 200, `"domain"`},
		{"as Chromium", open, "/json/", nil, 404, "Unknown command"},
		{"new needs PUT", open, "/json/new", nil, 405, "PUT"},
		{"unknown path", open, "/nonsense", nil, 404, "/json/version"},
		{"not an upgrade", open, "/devtools/browser/x", nil, 426, "ws://"},
		{"token", open, "/" + token + "/json/version", nil, 200, `"ws://` + open + "/" + token + `/devtools/browser/`},
		{"token list", open, "/" + token + "/json/list", nil, 200, `?ws=` + open + "/" + token + `/devtools/page/`},
		{"token twice", open, "/" + token + "/" + token + "/json/version", nil, 200, `"ws://` + open + "/" + token +
			`/devtools/browser/`},
		{"bearer", strict, "/json/version", map[string]string{"Authorization": "Bearer " + token}, 200,
			`"ws://` + strict + `/devtools/browser/`},
		{"strict, token", strict, "/" + token + "/json/version/", nil, 200, token},
		{"strict, none", strict, "/json/version", nil, 403, "`coordinator endpoint --token`"},
		{"strict, wrong", strict, "/" + token[1:] + "0/json/version", nil, 403, "token missing or wrong"},
		{"strict, prefix", strict, "/" + token[:10] + "/json/version", nil, 403, "token missing or wrong"},
		{"strict, wrong bearer", strict, "/json/version", map[string]string{"Authorization": "Bearer x"}, 403,
			"token missing or wrong"},

		{"localhost", open, "/json/version", map[string]string{"Host": "localhost"}, 200, `"ws://` + open},
		{"localhost port", open, "/json/version", map[string]string{"Host": "LocalHost:" + port}, 200, `"ws://` + open},
		{"sub localhost", open, "/json/version", map[string]string{"Host": "a.b.localhost:1"}, 200, `"ws://` + open},
		{"::1", open, "/json/version", map[string]string{"Host": "[::1]:9"}, 200, `"ws://` + open},
		{"rebound", open, "/json/version", map[string]string{"Host": "evil.example:" + port}, 403,
			`Host "evil.example:` + port + `" refused`},
		{"rebound, token", open, "/" + token + "/json/version", map[string]string{"Host": "evil.example"}, 403,
			"refused"},
		{"other IP", open, "/json/version", map[string]string{"Host": "127.0.0.2"}, 403, "refused"},
		{"suffix", open, "/json/version", map[string]string{"Host": "evillocalhost"}, 403, "refused"},
		{"dot", open, "/json/version", map[string]string{"Host": ".localhost"}, 403, "refused"},
		{"prefix", open, "/json/version", map[string]string{"Host": "127.0.0.1.evil.example"}, 403, "refused"},

		{"page", open, "/json/version", map[string]string{"Origin": "https://evil.example"}, 403,
			`Origin "https://evil.example" refused`},
		{"page, token", open, "/" + token + "/json/version", map[string]string{"Origin": "https://evil.example"}, 403,
			"refused"},
		{"file", open, "/json/version", map[string]string{"Origin": "null"}, 403, "refused"},
		{"own origin", open, "/json/version", map[string]string{"Origin": "http://" + open}, 403, "refused"},
		{"image", open, "/json/version", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "web page"},
		{"neighbour", open, "/json/version", map[string]string{"Sec-Fetch-Site": "same-site"}, 403, "web page"},
		{"typed", open, "/json/version", map[string]string{"Sec-Fetch-Site": "none"}, 200, "Browser"},
		{"typed, navigates", open, "/json/version", map[string]string{"Sec-Fetch-Site": "none",
			"Sec-Fetch-Mode": "navigate"}, 200, "Browser"},
		{"extension", open, "/json/version", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "cors"}, 403,
			"an extension"},
		{"extension, hidden", open, "/json/version", map[string]string{"Sec-Fetch-Site": "none",
			"Sec-Fetch-Mode": "no-cors"}, 403, "an extension"},
		{"allowed", open, "/json/version", map[string]string{"Origin": "https://tool.example",
			"Sec-Fetch-Site": "cross-site"}, 200, "Browser"},
		{"DevTools", open, "/json/version", map[string]string{"Origin": cdpproxy.DevToolsOrigin}, 200, "Browser"},
	} {
		want := connections.count() + 1
		switch {
		case c.status == http.StatusForbidden, c.status == http.StatusUpgradeRequired, c.path == "/nonsense":
			want--
		}
		status, body := get(t, c.addr, c.path, c.headers)
		if status != c.status || !strings.Contains(body, c.text) {
			t.Errorf("%s: HTTP %d %.300s\nwant %d with %q", c.name, status, body, c.status, c.text)
		}
		if got := connections.count(); got != want {
			t.Errorf("%s: the browser got %d connections, want %d", c.name, got, want)
		}
	}
	// No current client sends no Host, but an old browser could.
	before := connections.count()
	for request, want := range map[string]int{
		"GET /json/version HTTP/1.0\r\n\r\n":                                       403,
		"GET /" + token + "/json/version HTTP/1.0\r\n\r\n":                         403,
		"GET /json/version HTTP/1.1\r\n\r\n":                                       400,
		"GET /json/version HTTP/1.1\r\nHost:\r\n\r\n":                              403,
		"GET /json/version HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n":         400,
		"GET http://evil.example/json/version HTTP/1.1\r\nHost: localhost\r\n\r\n": 403,
	} {
		if a := ask(t, open, request); a.status != want {
			t.Errorf("%q: HTTP %d %s, want %d", request, a.status, a.body, want)
		}
	}
	if got := connections.count(); got != before {
		t.Errorf("of refused requests the browser got %d connections", got-before)
	}
}

// TestRefusedNotKept: a refused client's connection is closed.
func TestRefusedNotKept(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Token: token, RequireToken: true})
	for _, host := range []string{"evil.example", "localhost"} {
		conn := connect(t, addr)
		io.WriteString(conn, "GET /json/version HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
			t.Errorf("Host %s: %s, then %v", host, answer, err)
		}
	}
}

// TestNoCORS: no response opens the endpoint to scripts of other sites, for any
// request, even with an Origin that is allowed by name.
func TestNoCORS(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Token: token,
		AllowOrigins: []string{"https://tool.example"}})
	for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodPut, http.MethodHead} {
		for _, origin := range []string{"", "https://evil.example", "https://tool.example", "null",
			cdpproxy.DevToolsOrigin} {
			for _, path := range []string{"/json/version", "/" + token + "/json/list", "/", "/devtools/browser/x",
				"/nonsense"} {
				req, err := http.NewRequest(method, "http://"+addr+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if origin != "" {
					req.Header.Set("Origin", origin)
				}
				req.Header.Set("Access-Control-Request-Method", "PUT")
				req.Header.Set("Access-Control-Request-Private-Network", "true")
				res, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				for name := range res.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s from %q: the answer has %s", method, path, origin, name)
					}
				}
				if foreign := origin == "https://evil.example" || origin == "null"; foreign &&
					res.StatusCode != http.StatusForbidden {
					t.Errorf("%s %s from %q: HTTP %d", method, path, origin, res.StatusCode)
				}
			}
		}
	}
}

// TestWebSocketGuard: the same for WebSockets.
func TestWebSocketGuard(t *testing.T) {
	browser, connections := counted(t, cdptest.BrowserURL(t))
	src := newSource(browser)
	_, addr := serve(t, src, &cdpproxy.Options{Token: token, RequireToken: true,
		AllowOrigins: []string{"https://tool.example"}})
	const mine = "/" + token + "/devtools/browser/x"
	id := openTab(t, addr+"/"+token)
	from := func(origin string) http.Header { return http.Header{"Origin": {origin}} }
	for name, c := range map[string]struct {
		path, host  string
		header      http.Header
		status      int
		connections int // that the browser gets
	}{
		"token":           {mine, "", nil, 101, 1},
		"bearer":          {"/devtools/browser/x", "", http.Header{"Authorization": {"bearer " + token}}, 101, 1},
		"page":            {"/" + token + "/devtools/page/" + id, "", nil, 101, 1},
		"none":            {"/devtools/browser/x", "", nil, 403, 0},
		"none, page":      {"/devtools/page/" + id, "", nil, 403, 0},
		"wrong":           {"/" + token[1:] + "0/devtools/browser/x", "", nil, 403, 0},
		"origin":          {mine, "", from("http://127.0.0.1"), 403, 0},
		"foreign":         {mine, "", from("https://evil.example"), 403, 0},
		"file":            {mine, "", from("null"), 403, 0},
		"allowed origin":  {mine, "", from("https://tool.example"), 101, 1},
		"two origins":     {mine, "", http.Header{"Origin": {"https://tool.example", "https://evil.example"}}, 403, 0},
		"allowed, no key": {"/devtools/browser/x", "", from("https://tool.example"), 403, 0},
		"DevTools":        {mine, "", from(cdpproxy.DevToolsOrigin), 101, 1},
		"cross-site":      {mine, "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, 0},
		"rebound":         {mine, "evil.example", nil, 403, 0},
		"rebound, page":   {"/" + token + "/devtools/page/" + id, "evil.example:80", nil, 403, 0},
		"localhost":       {mine, "localhost", nil, 101, 1},
		"no such page":    {"/" + token + "/devtools/page/ABC", "", nil, 500, 1}, // like Chromium
		"not a browser":   {"/" + token + "/other", "", nil, 404, 0},
	} {
		before := connections.count()
		conn, res, err := websocket.Dial(testContext(t), "ws://"+addr+c.path,
			&websocket.DialOptions{HTTPHeader: c.header, Host: c.host})
		if res == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := connections.count() - before; res.StatusCode != c.status || got != c.connections {
			t.Errorf("%s: HTTP %d, and the browser got %d connections; want %d and %d", name, res.StatusCode, got,
				c.status, c.connections)
		}
		if err == nil {
			conn.CloseNow()
		}
	}
	// HTTP/1.0 requires no Host and has no WebSockets.
	before := connections.count()
	for _, host := range []string{"", "Host: localhost\r\n"} {
		a := ask(t, addr,
			"GET "+mine+" HTTP/1.0\r\n"+host+"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "+
				"13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		if want := map[bool]int{true: 403, false: 405}[host == ""]; a.status != want || connections.count() != before {
			t.Errorf("HTTP/1.0 with %q: HTTP %d %s, want %d", host, a.status, a.body, want)
		}
	}
}

// openTab opens a tab through the endpoint and returns its id. The tab is closed at
// the end of the test.
func openTab(t testing.TB, addr string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, "http://"+addr+"/json/new?about:blank", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var target struct {
		ID  string `json:"id"`
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(res.Body).Decode(&target); err != nil || target.ID == "" {
		t.Fatalf("/json/new: HTTP %d, %v", res.StatusCode, err)
	}
	if want := "ws://" + addr + "/devtools/page/" + target.ID; target.URL != want {
		t.Errorf("/json/new names %s, want %s", target.URL, want)
	}
	t.Cleanup(func() { get(t, addr, "/json/close/"+target.ID, nil) })
	return target.ID
}

// TestNotLoopback: an endpoint is never served to the network.
func TestNotLoopback(t *testing.T) {
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := cdpproxy.New(newSource(""), nil)
	if err := p.Serve(ln); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("served on %v: %v", ln.Addr(), err)
	}
}

// TestHeaders: endless headers are cut off.
func TestHeaders(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, newSource(""), nil)
	status, _ := get(t, addr, "/json/version", map[string]string{"X": strings.Repeat("x", 100_000)})
	if status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("HTTP %d, want 431", status)
	}
}

// TestGeneralOptions: the HTTP server answers no request by itself, which would admit anybody.
func TestGeneralOptions(t *testing.T) {
	_, addr := serve(t, newSource(""), nil)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
		t.Errorf("OPTIONS *: %s, %v", answer, err)
	}
}

// TestManySilent: connections that send no request cannot take all descriptors of the
// process. Those beyond a bound are closed at once, the first one may still send its
// request, and there is room again when they have ended.
func TestManySilent(t *testing.T) {
	const bound = 1024 + 256
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	closed := make(chan struct{}, bound+20)
	var conns []net.Conn
	for i := range bound + 20 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		if i == 0 {
			continue
		}
		go func() { // ends with the connection
			io.Copy(io.Discard, conn)
			closed <- struct{}{}
		}()
	}
	for range 20 {
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("more connections than the bound stay open")
		}
	}
	ask := func(conn net.Conn) bool {
		io.WriteString(conn, "GET /json/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		answer, _ := io.ReadAll(conn)
		return strings.HasPrefix(string(answer), "HTTP/1.1 200 ")
	}
	if !ask(conns[0]) {
		t.Error("the first connection was closed")
	}
	for _, conn := range conns {
		conn.Close()
	}
	must.Await(t, "a new connection is served", func() bool { // nothing reports that the endpoint has noticed
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return ask(conn)
	})
}
