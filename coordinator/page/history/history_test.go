package history_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

func TestConsole(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html><script>
console.log('hello %s, %d', 'Bob', 7, {a:1,b:[2]}); console.warn('careful'); console.debug('fine');
for (let i=0;i<3;i++) console.error('again');
console.info('styled %cred', 'color:red');
console.log(new Map([['tea', 3], ['milk', {fat: 2}]]), new Set(['a']), new Map());
setTimeout(() => { throw new TypeError('later') });
Promise.reject(new Error('refused'));
console.table([{ tea: 3 }, { tea: 4 }]); function order() { console.trace('ordered') } order();
</script><img src="/missing.png">`)
	pagetest.Evaluate(t, p, "new Promise(r => setTimeout(r))")
	var all []string
	for _, m := range p.History().Console.Messages("debug") {
		all = append(all, fmt.Sprintf("%s %s x%d %s:%d", m.Level, m.Text, m.Count, strings.TrimPrefix(m.Position.URL, url),
			m.Position.Line))
	}
	joined := strings.Join(all, "\n")
	pagetest.Contains(t, joined, "info hello Bob, 7 {a: 1, b: Array(1)} x1 /:2", "warning careful x1 /:2", "debug fine x1",
		"error again x3 /:3", "info styled red x1",
		"info Map(2) {tea => 3, milk => {fat: 2}} Set(1) {a} Map(0) {size: 0} x1",
		"error Uncaught TypeError: later", "error Uncaught (in promise) Error: refused",
		"info [{tea: 3}, {tea: 4}] x1", "info ordered\n    at order ("+url+"/:8:")
	for _, m := range p.History().Console.Messages("error") {
		if m.Level != "error" {
			t.Errorf("a %s among the errors: %s", m.Level, m.Text)
		}
	}
	// A later connection gets the earlier history too.
	q := pagetest.Attach(t, p)
	pagetest.Evaluate(t, q, "1")
	if len(q.History().Console.Messages("warning")) < 3 {
		t.Errorf("a later connection sees %+v", q.History().Console.Messages("debug"))
	}
	pagetest.Evaluate(t, p, "for (let i = 0; i < 1500; i++) console.log('n' + i)")
	messages := p.History().Console.Messages("info")
	if len(messages) != 1000 || messages[999].Text != "n1499" {
		t.Errorf("%d kept, the last is %q", len(messages), messages[len(messages)-1].Text)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			fmt.Fprint(w, `<!doctype html><img src="data:,x"><p>hi`)
		}
	}))
	pagetest.Evaluate(t, p, `fetch('/api', {method: 'POST', body: 'secret thing'}).then(r => r.text())`)
	pagetest.Evaluate(t, p, `fetch('/old').then(r => r.text())`)
	pagetest.Evaluate(t, p, `fetch('/cut').catch(e => 1)`)
	var lines []string
	var post int64
	for _, r := range p.History().Network.Requests(t.Context()) {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %v %s", r.Method, strings.TrimPrefix(r.URL, url), r.Type, r.Status,
			r.Done, r.Failed))
		if r.Method == "POST" {
			post = r.Seq
		}
		if r.Duration < 0 || time.Since(r.Started) > time.Minute {
			t.Errorf("started %v, took %v", r.Started, r.Duration)
		}
	}
	joined := strings.Join(lines, "\n")
	pagetest.Contains(t, joined, "GET / document 200 true", "POST /api fetch 418 true", "GET /old fetch 302 true",
		"GET /api fetch 418 true", "GET /cut fetch 0 true net::ERR_EMPTY_RESPONSE")
	if strings.Contains(joined, "data:") {
		t.Errorf("a data URL is listed:\n%s", joined)
	}
	d, err := p.History().Network.Request(t.Context(), post)
	if err != nil || string(d.RequestBody) != "secret thing" || string(d.ResponseBody) != "got secret thing" ||
		d.ResponseHeaders["X-Answer"] != "yes" {
		t.Errorf("details: %+v %v", d, err)
	}
	// A redirect and its target are two requests.
	pagetest.Evaluate(t, p, `fetch('/order', {method: 'POST', body: 'two cups'}).then(r => r.text())`)
	for _, r := range p.History().Network.Requests(t.Context()) {
		if r.Status < 300 || r.Status > 399 {
			continue
		}
		d, err := p.History().Network.Request(t.Context(), r.Seq)
		if body := string(d.RequestBody); err != nil || len(d.ResponseBody) > 0 || d.BodyNote != "" || r.Method == "POST" &&
			body != "two cups" || r.Method == "GET" && body != "" {
			t.Errorf("%s %s: %q, %q %s %v", r.Method, r.URL, body, d.ResponseBody, d.BodyNote, err)
		}
	}
	if _, err := p.History().Network.Request(t.Context(), 9999); err == nil {
		t.Error("an unknown request is no error")
	}
}

// The headers are those on the wire, with cookies, also of each hop of a redirect; a cookie
// that the browser refuses is named with the reason.
func TestRawHeaders(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "at="+r.URL.Path[1:]+"; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "lax=1; SameSite=Lax")
		w.Header().Add("Set-Cookie", "far=1; Domain=other.example")
		w.Header().Add("Set-Cookie", "off=1; Domain=other.example")
		if r.URL.Path == "/first" {
			http.Redirect(w, r, "/second", http.StatusFound)
		}
	}))
	pagetest.Evaluate(t, p, `fetch('/zero').then(() => fetch('/first', {headers: {'X-Own': 'yes'}})).then(r => r.text())`)
	headers := map[string]string{}
	for _, r := range p.History().Network.Requests(t.Context()) {
		d, err := p.History().Network.Request(t.Context(), r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		path := r.URL[strings.LastIndex(r.URL, "/"):]
		cookies := strings.Split(d.RequestHeaders["Cookie"], "; ")
		slices.Sort(cookies)
		headers[path] = fmt.Sprintf("%s|%s|%s|%s", strings.Join(cookies, "; "), d.RequestHeaders["X-Own"],
			d.ResponseHeaders["Set-Cookie"], d.ResponseHeaders["blocked set-cookie (InvalidDomain)"])
		if d.RequestHeaders["Host"] == "" || d.RequestHeaders["Sec-Fetch-Mode"] == "" {
			t.Errorf("%s: %v", path, d.RequestHeaders)
		}
	}
	const rest = "; Path=/; HttpOnly\nlax=1; SameSite=Lax\n" +
		"far=1; Domain=other.example\noff=1; Domain=other.example|far=1; Domain=other.example\noff=1; Domain=other.example"
	for path, want := range map[string]string{
		"/zero":   "at=; lax=1||at=zero" + rest,
		"/first":  "at=zero; lax=1|yes|at=first" + rest,
		"/second": "at=first; lax=1|yes|at=second" + rest,
	} {
		if headers[path] != want {
			t.Errorf("%s: %q, want %q", path, headers[path], want)
		}
	}
}

// WebSockets are requests too; they have a response once they are open.
func TestWebSockets(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			fmt.Fprint(w, `<!doctype html><title>Sockets</title>`)
		}
	}))
	var socket int64
	listed := func(want string) {
		t.Helper()
		var all string
		for _, r := range p.History().Network.Requests(t.Context()) {
			if strings.HasSuffix(r.URL, "/socket") {
				socket = r.Seq
			}
			all += fmt.Sprintf("%s %s %d %v %s\n", strings.TrimPrefix(r.URL, "ws"+strings.TrimPrefix(url, "http")), r.Type,
				r.Status, r.Done, r.Failed)
		}
		pagetest.Contains(t, all, want)
	}
	pagetest.Evaluate(t, p, "new Promise(done => { s = new WebSocket('/socket'); s.onopen = () => done(1) })")
	listed("/socket websocket 101 false")
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{Idle: true, Timeout: 5 * time.Second}); err != nil {
		t.Errorf("a socket that is open keeps the network busy: %v", err)
	}
	d, err := p.History().Network.Request(t.Context(), socket)
	if err != nil || d.ResponseHeaders["Upgrade"] != "websocket" || d.RequestHeaders["Upgrade"] != "websocket" ||
		d.BodyNote != "" {
		t.Errorf("%+v %v", d, err)
	}
	pagetest.Evaluate(t, p, "new Promise(done => { s.onclose = () => done(1); s.close() })")
	listed("/socket websocket 101 true")
	pagetest.Evaluate(t, p, "new Promise(done => { new WebSocket('/refused').onclose = () => done(1) })")
	listed("/refused websocket 0 true Error during WebSocket handshake: Unexpected response code: 403")
}

// A page that the browser has fetched ahead takes no time, and never less.
func TestPrefetchedPage(t *testing.T) {
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html>
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["/next"]}]}</script><a href=/next>go</a>`)
	}))
	// A tab in the background fetches nothing ahead.
	if err := p.Session().Call(t.Context(), "Page.bringToFront", nil, nil); err != nil {
		t.Fatal(err)
	}
	pagetest.Navigate(t, p, url)
	fetched := func(kind string) (found history.Request) {
		for _, r := range p.History().Network.Requests(t.Context()) {
			if strings.HasSuffix(r.URL, "/next") && r.Type == kind && r.Done {
				found = r
			}
		}
		return found
	}
	must.Await(t, "the page is fetched ahead", func() bool { return fetched("prefetch").Done })
	pagetest.Act(t, p, p.Input().Click("a", input.ClickOptions{}))
	must.Await(t, "the page is shown", func() bool { return fetched("document").Done })
	if r := fetched("document"); r.Duration < 0 || !r.FromCache {
		t.Errorf("%+v", r)
	}
}
