package tools_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/policy"
)

// archive is what the tests read of a HAR.
type archive struct {
	Log struct {
		Creator struct{ Name, Version string }
		Pages   []struct{ ID, Title string }
		Entries []archived
	}
}

type pairs []struct{ Name, Value string }

type archived struct {
	Pageref         string
	StartedDateTime time.Time
	Time            float64
	Request         struct {
		Method, URL                   string
		Cookies, Headers, QueryString pairs
		PostData                      *struct {
			MIMEType string
			Text     string
			Params   pairs
		}
	}
	Response struct {
		Status           int
		Cookies, Headers pairs
		Content          struct{ Text, Encoding, Comment string }
		RedirectURL      string
		Failed           string `json:"_error"`
	}
	Timings  map[string]float64
	Messages []struct {
		Type    string
		Time    float64
		Opcode  int
		Data    string
		Comment string
	} `json:"_webSocketMessages"`
}

// readHAR reads an archive. A test in internal/conformance validates one against the schema of HAR.
func readHAR(t *testing.T, file string) (har archive) {
	t.Helper()
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(saved, &har); err != nil {
		t.Fatal(err)
	}
	return har
}

func (a archive) entry(t *testing.T, path string) archived {
	t.Helper()
	for _, e := range a.Log.Entries {
		if strings.HasSuffix(e.Request.URL, path) {
			return e
		}
	}
	t.Fatalf("no request of %s", path)
	return archived{}
}

func (p pairs) get(name string) string {
	for _, pair := range p {
		if strings.EqualFold(pair.Name, name) {
			return pair.Value
		}
	}
	return ""
}

func TestHAR(t *testing.T) {
	t.Parallel()
	const pixel = "\x89PNG\r\n\x1a\n\xff\xfe\x00\x01"
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/order":
			http.SetCookie(w, &http.Cookie{Name: "cart", Value: "7", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
			w.Header().Add("Set-Cookie", "theme=dark; Max-Age=60")
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			var zipped bytes.Buffer
			z := gzip.NewWriter(&zipped)
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(z, `{"sent": %q}`, body)
			_ = z.Close()
			time.Sleep(30 * time.Millisecond)
			_, _ = w.Write(zipped.Bytes())
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, pixel)
		case "/broken":
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		case "/socket":
			c, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer c.CloseNow()
			for {
				kind, data, err := c.Read(r.Context())
				if err != nil || c.Write(r.Context(), kind, append([]byte("re:"), data...)) != nil {
					return
				}
			}
		default:
			fmt.Fprint(w, `<!doctype html><title>Shop</title><p>Shop`)
		}
	})
	hidden := secrets.New(map[string]string{"PIN": "correct-horse-77"})
	tested := toolstest.OpenWindow(t).Start(agent.Options{Secrets: hidden}, "network")
	tested.Open(url + "/first")
	tested.Open(url + "/shop?color=blue%20green&size=")
	tested.Evaluate(`async () => {
		await (await fetch("/moved")).text();
		await (await fetch("/order", { method: "POST", headers: { Authorization: "Bearer correct-horse-77" },
			body: new URLSearchParams({ tea: "green & black", pin: "correct-horse-77" }) })).text();
		await (await fetch("/order?again", { method: "POST", body: new Uint8Array([0, 255, 254]) })).text();
		await (await fetch("/binary")).arrayBuffer();
		await fetch("/broken").catch(() => 0);
		await new Promise((done) => {
			const socket = new WebSocket("/socket");
			socket.onopen = () => { socket.send("two cups"); socket.send(new Uint8Array([0, 255])); };
			let n = 0;
			socket.onmessage = () => { if (++n === 2) { socket.onclose = done; socket.close(); } };
		});
	}`)
	tested.Expect("browser_har", args{"filename": "shop.har"}, "Saved ", "shop.har", "cookies")
	har := readHAR(t, tested.Saved("shop.har"))

	if c := har.Log.Creator; c.Name != "Browser Coordinator" || c.Version != "test" {
		t.Errorf("creator: %+v", c)
	}
	first, shop := har.entry(t, "/first"), har.entry(t, "size=")
	if first.Pageref == shop.Pageref || har.Log.Pages[len(har.Log.Pages)-1].ID != shop.Pageref {
		t.Errorf("documents: %v, %s, %s", har.Log.Pages, first.Pageref, shop.Pageref)
	}
	if q := shop.Request.QueryString; len(q) != 2 || q.get("color") != "blue green" || q[1].Name != "size" {
		t.Errorf("query: %v", q)
	}
	if body := shop.Response.Content.Text; !strings.Contains(body, "<p>Shop") {
		t.Errorf("document: %q", body)
	}
	if r := har.entry(t, "/moved").Response; r.Status != 302 || r.RedirectURL != "/end" {
		t.Errorf("redirect: %+v", r)
	}
	if end := har.entry(t, "/end"); end.Response.Status != 200 || !strings.Contains(end.Response.Content.Text, "Shop") {
		t.Errorf("target of the redirect: %+v", end)
	}
	order := har.entry(t, "/order")
	if text := order.Response.Content.Text; text != `{"sent": "tea=green+%26+black&pin=<secret>PIN</secret>"}` {
		t.Errorf("body: %s", text)
	}
	if set := order.Response.Cookies; len(set) != 2 || set.get("cart") != "7" || set.get("theme") != "dark" {
		t.Errorf("cookies: %v", set)
	}
	if sent := order.Request.PostData; sent == nil || sent.Params.get("tea") != "green & black" ||
		sent.Text != "tea=green+%26+black&pin=<secret>PIN</secret>" {
		t.Errorf("form: %+v", sent)
	}
	if value := order.Request.Headers.get("Authorization"); value != "Bearer <secret>PIN</secret>" {
		t.Errorf("Authorization: %q", value)
	}
	again := har.entry(t, "/order?again")
	if again.Request.PostData != nil || again.Request.Cookies.get("cart") != "7" {
		t.Errorf("second order: %+v", again.Request)
	}
	if wait := order.Timings["wait"]; wait < 25 || order.Time < wait || order.Time > 5000 ||
		time.Since(order.StartedDateTime).Abs() > time.Minute {
		t.Errorf("timings: %v, %v, %v", order.Timings, order.Time, order.StartedDateTime)
	}
	if c := har.entry(t, "/binary").Response.Content; c.Encoding != "base64" || c.Text != "iVBORw0KGgr//gAB" {
		t.Errorf("binary body: %+v", c)
	}
	if r := har.entry(t, "/broken").Response; r.Status != -1 || !strings.HasPrefix(r.Failed, "net::ERR_") {
		t.Errorf("failed: %+v", r)
	}
	var messages []string
	for _, m := range har.entry(t, "/socket").Messages {
		if since := time.Since(time.UnixMicro(int64(m.Time * 1e6))).Abs(); since > time.Minute {
			t.Errorf("the time of a message is off by %v", since)
		}
		messages = append(messages, fmt.Sprintf("%s %d %s", m.Type, m.Opcode, m.Data))
	}
	if got := strings.Join(messages, "; "); !strings.Contains(got, "send 1 two cups; send 2 AP8=") ||
		!strings.Contains(got, "receive 1 re:two cups; receive 2 cmU6AP8=") {
		t.Errorf("messages: %s", got)
	}

	tested.Must("browser_har", args{"filename": "part", "filter": "binary$"})
	if part := readHAR(t, tested.Saved("part.har")); len(part.Log.Entries) != 1 {
		t.Errorf("%d requests", len(part.Log.Entries))
	}
	tested.Must("browser_har", args{"filename": "none", "filter": "nothing"})
	readHAR(t, tested.Saved("none.har"))
	tested.Refused("browser_har", args{"filename": "shop.sh"}, ".har")
}

// Secrets are not in base64 either, where nothing could hide them.
func TestHARBinarySecrets(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\xff correct-horse-77")
		case "/socket":
			c, err := websocket.Accept(w, r, nil)
			if err == nil {
				_, _, _ = c.Read(r.Context())
				_ = c.Write(r.Context(), websocket.MessageBinary, []byte("\xff\xfe"))
				_, _, _ = c.Read(r.Context())
			}
		default:
			fmt.Fprint(w, `<!doctype html><p>Shop`)
		}
	})
	hidden := secrets.New(map[string]string{"PIN": "correct-horse-77"})
	tested := toolstest.OpenWindow(t).Start(agent.Options{Secrets: hidden}, "network")
	tested.Open(url)
	tested.Evaluate(`async () => {
		await (await fetch("/binary")).arrayBuffer();
		await new Promise((done) => {
			const socket = new WebSocket("/socket"), pin = "correct-" + "horse-77";
			socket.onopen = () => socket.send(new TextEncoder().encode(pin));
			socket.onmessage = () => { socket.onclose = done; socket.close(); };
		});
	}`)
	tested.Expect("browser_har", args{"filename": "a"}, "1 of the responses lack their body")
	har := readHAR(t, tested.Saved("a.har"))
	if c := har.entry(t, "/binary").Response.Content; c.Text+c.Encoding != "" ||
		!strings.Contains(c.Comment, "--secrets") {
		t.Errorf("body: %+v", c)
	}
	if m := har.entry(t, "/socket").Messages; len(m) != 2 || m[0].Data != "" ||
		!strings.Contains(m[0].Comment, "--secrets") || m[1].Data != "//4=" || m[1].Comment != "" {
		t.Errorf("messages: %+v", m)
	}
}

// A frame of another site and a worker take their bodies with them, and the rest of the HAR stays.
func TestHAROfWhatHasGone(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/frame":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<script>fetch("/inner", {method: "POST", body: "x"}).then((r) => r.text())
				.then(() => parent.postMessage(1, "*"))</script>`)
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `fetch("/job").then((r) => r.text()).then(() => postMessage(1))`)
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><p>Shop`)
		default:
			fmt.Fprint(w, "text of "+r.URL.Path)
		}
	})
	tested := toolstest.OpenWindow(t).Agent("network")
	tested.Open(url)
	tested.Evaluate(`async () => {
		const frame = document.createElement("iframe");
		frame.src = location.href.replace("127.0.0.1", "localhost") + "frame";
		const inner = new Promise((done) => addEventListener("message", done));
		document.body.append(frame);
		await inner;
		frame.remove();
		const worker = new Worker("/worker.js");
		await new Promise((done) => worker.onmessage = done);
		worker.terminate();
		await (await fetch("/still")).text();
	}`)
	tested.Expect("browser_har", args{"filename": "a"}, "Saved 6 requests")
	har := readHAR(t, tested.Saved("a.har"))
	if c := har.entry(t, "/still").Response.Content; c.Text != "text of /still" {
		t.Errorf("/still: %+v", c)
	}
	if c := har.entry(t, "/inner").Response.Content; c.Text != "" || c.Comment == "" {
		t.Errorf("/inner: %+v", har.entry(t, "/inner"))
	}
}

// An archive has nothing of origins that are out of bounds.
func TestHARWithinOrigins(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><p>Shop`)
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	w := toolstest.OpenWindow(t)
	origins, err := policy.ParseOrigins([]string{url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bounded := w.Start(agent.Options{Origins: origins}, "network")
	bounded.Open(url)
	bounded.Evaluate(`() => fetch("` + other + `", { mode: "no-cors" }).catch(() => 0).then(() => 1)`)
	bounded.Expect("browser_har", args{"filename": "shop"}, "Left out")
	for _, e := range readHAR(t, bounded.Saved("shop.har")).Log.Entries {
		if !strings.HasPrefix(e.Request.URL, url) {
			t.Errorf("%s is in it", e.Request.URL)
		}
	}
}
