package page

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/page/frame"
)

func TestNetwork(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/api", http.StatusFound)
		case "/api":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Answer", "yes")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "got %s", body)
		case "/order":
			http.Redirect(w, r, "/api", http.StatusSeeOther)
		case "/cut":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><img src="data:,x"><p>hi`)
		}
	}))
	eval(t, p, `fetch('/api', {method: 'POST', body: 'secret thing'}).then(r => r.text())`)
	eval(t, p, `fetch('/old').then(r => r.text())`)
	eval(t, p, `fetch('/cut').catch(e => 1)`)
	var lines []string
	var post int64
	for _, r := range p.Network(t.Context()) {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %v %s", r.Method, strings.TrimPrefix(r.URL, url), r.Type, r.Status, r.Done, r.Failed))
		if r.Method == "POST" {
			post = r.Seq
		}
		if r.Duration < 0 || time.Since(r.Started) > time.Minute {
			t.Errorf("started %v, took %v", r.Started, r.Duration)
		}
	}
	joined := strings.Join(lines, "\n")
	contains(t, joined, "GET / document 200 true", "POST /api fetch 418 true", "GET /old fetch 302 true", "GET /api fetch 418 true", "GET /cut fetch 0 true net::ERR_EMPTY_RESPONSE")
	if strings.Contains(joined, "data:") {
		t.Errorf("a data URL is listed:\n%s", joined)
	}
	d, err := p.RequestDetails(t.Context(), post)
	if err != nil || string(d.RequestBody) != "secret thing" || string(d.ResponseBody) != "got secret thing" || d.ResponseHeaders["X-Answer"] != "yes" {
		t.Errorf("details: %+v %v", d, err)
	}
	// A redirect is not what it leads to.
	eval(t, p, `fetch('/order', {method: 'POST', body: 'two cups'}).then(r => r.text())`)
	for _, r := range p.Network(t.Context()) {
		if r.Status < 300 || r.Status > 399 {
			continue
		}
		d, err := p.RequestDetails(t.Context(), r.Seq)
		if body := string(d.RequestBody); err != nil || len(d.ResponseBody) > 0 || d.BodyError != "" || r.Method == "POST" && body != "two cups" || r.Method == "GET" && body != "" {
			t.Errorf("%s %s: %q, %q %s %v", r.Method, r.URL, body, d.ResponseBody, d.BodyError, err)
		}
	}
	if _, err := p.RequestDetails(t.Context(), 9999); err == nil {
		t.Error("an unknown request is no error")
	}
}

// WebSockets are requests too, that are answered when they are open.
func TestWebSockets(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/socket":
			c, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.CloseNow()
			_, _, _ = c.Read(r.Context())
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>Sockets</title>`)
		}
	}))
	var socket int64
	listed := func(want string) {
		t.Helper()
		var all string
		for _, r := range p.Network(t.Context()) {
			if strings.HasSuffix(r.URL, "/socket") {
				socket = r.Seq
			}
			all += fmt.Sprintf("%s %s %d %v %s\n", strings.TrimPrefix(r.URL, "ws"+strings.TrimPrefix(url, "http")), r.Type, r.Status, r.Done, r.Failed)
		}
		contains(t, all, want)
	}
	eval(t, p, "new Promise(done => { s = new WebSocket('/socket'); s.onopen = () => done(1) })")
	listed("/socket websocket 101 false")
	if _, err := p.WaitFor(t.Context(), WaitOptions{Idle: true, Timeout: 5 * time.Second}); err != nil {
		t.Errorf("a socket that is open keeps the network busy: %v", err)
	}
	d, err := p.RequestDetails(t.Context(), socket)
	if err != nil || d.ResponseHeaders["Upgrade"] != "websocket" || d.RequestHeaders["Upgrade"] != "websocket" || d.BodyError != "" {
		t.Errorf("%+v %v", d, err)
	}
	eval(t, p, "new Promise(done => { s.onclose = () => done(1); s.close() })")
	listed("/socket websocket 101 true")
	eval(t, p, "new Promise(done => { new WebSocket('/refused').onclose = () => done(1) })")
	listed("/refused websocket 0 true Error during WebSocket handshake: Unexpected response code: 403")
}

func TestWaitUploadDrag(t *testing.T) {
	p, url := open(t, `<!doctype html><style>#from,#to{width:80px;height:80px;border:1px solid}</style><p id=m>Loading</p>
<input type=file id=f hidden onchange="m.textContent=f.files[0].name"><div id=from draggable=true ondragstart="event.dataTransfer.setData('text','x')" ondragend="m.textContent+=', dragend'">from</div>
<div style="height:60px"></div><div id=to ondragover="event.preventDefault()" ondrop="event.preventDefault();m.textContent='dropped '+event.dataTransfer.getData('text')">to</div>`)
	eval(t, p, "setTimeout(() => m.textContent = 'Ready now', 100), 1")
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "Ready", Gone: "Loading"}); err != nil {
		t.Error(err)
	}
	var late *TimeoutError
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "never", Timeout: 200 * time.Millisecond}); !errors.As(err, &late) || !strings.Contains(err.Error(), `the text "never"`) {
		t.Errorf("a text that never comes: %v", err)
	}
	eval(t, p, "setTimeout(() => location.href = '/second', 100), 1")
	if c, err := p.WaitFor(t.Context(), WaitOptions{URL: "/second", Text: "Loading"}); err != nil || c.URL != url+"/second" || !c.Navigated {
		t.Errorf("across a navigation: %+v %v", c, err)
	}
	file := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Upload(t.Context(), "#f", file); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "m.textContent"); got != `"hello.txt"` {
		t.Errorf("the page sees %s", got)
	}
	var target *frame.TargetError
	if _, err := p.Upload(t.Context(), "#m", file); !errors.As(err, &target) {
		t.Errorf("upload to a paragraph: %v", err)
	}
	if _, err := p.Drag(t.Context(), "#from", "#to"); err != nil {
		t.Error(err)
	}
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "dropped x, dragend", Timeout: 2 * time.Second}); err != nil {
		t.Error(err)
	}
	// A page that drags by mouse events of its own.
	eval(t, p, `log = [], ['mousedown','mouseup'].forEach(n => document.addEventListener(n, e => log.push(n + ':' + e.target.id))), document.querySelector('#from').draggable = false`)
	if _, err := p.Drag(t.Context(), "#from", "#to"); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "log.join()"); got != `"mousedown:from,mouseup:to"` {
		t.Errorf("the page saw %s", got)
	}
}
