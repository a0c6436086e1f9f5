package show

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// attack is a web page that has somehow learned the address of the page of show, its root and the code of a link.
const attack = `<!doctype html><title>attack</title><iframe name=hidden></iframe>
<form target=hidden method=post enctype="text/plain" action="%[1]s%[2]scall"><input name='%[4]s' value=""></form>
<script>
const results = {};
const attempt = (name, work) => work.then((got) => results[name] = "got " + got, () => results[name] = "refused");
const socket = (url) => new Promise((resolve, reject) => {
	const opened = new WebSocket(url);
	opened.onopen = () => resolve("a connection");
	opened.onerror = reject;
});
const load = (name, members) => new Promise((resolve, reject) =>
	document.head.append(Object.assign(document.createElement(name), members, {onload: resolve, onerror: reject})));
const root = "%[1]s%[2]s";
const call = {method: "POST", mode: "no-cors", body: '%[4]s'};
document.forms[0].submit();
Promise.all([
	attempt("feed", fetch(root + "feed").then((response) => response.text())),
	attempt("events", new Promise((resolve, reject) => Object.assign(new EventSource(root + "feed"),
		{onmessage: resolve, onerror: reject}))),
	attempt("socket", socket(root.replace("http", "ws") + "%[3]s")),
	attempt("script", load("script", {src: "%[1]s/show.js"})),
	attempt("style", load("link", {rel: "stylesheet", href: "%[1]s/show.css"})),
	attempt("cors", fetch("%[1]s/open", {method: "POST", body: "%[5]s"}).then((response) => response.text())),
	fetch(root + "call", call).catch(() => {}),
	fetch("%[1]s/open", {method: "POST", mode: "no-cors", body: "%[5]s"}).catch(() => {}),
	navigator.sendBeacon(root + "call", '%[4]s'),
]).then(() => fetch("done"));
</script>`

// TestHostileWebPage: a page of another origin gets nothing and changes nothing, whatever it knows.
func TestHostileWebPage(t *testing.T) {
	s := start(t)
	b := cdptest.Launch(t)
	w := openWindow(t, b.URL())
	v := openViewer(t, "")
	link := s.Link()
	_, code, _ := strings.Cut(link, "#")
	address := must.Get(s.windows.List(t.Context()))(t).Windows[0].Address
	call := `{"window":"` + string(address) + `","command":"access.change","arg":{"mode":"full"}}`
	v.open(serveHTML(t, func(path string) string {
		if path != "/" {
			return ""
		}
		return fmt.Sprintf(attack, "http://"+s.host, s.root, s.relayTo(b.URL()), call, code)
	}))
	v.await("all attempts", `Object.keys(results).length === 6`)
	if got := v.evaluate(`Object.entries(results).filter(([, result]) => result !== "refused").join("; ")`); got != "" {
		t.Error(got)
	}
	v.await("the last request", `performance.getEntriesByType("resource").some(({name}) => name.endsWith("/done"))`)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changes)+len(w.answers) > 0 {
		t.Errorf("it changed %+v and answered %+v", w.changes, w.answers)
	}
	if !s.redeem(code) {
		t.Error("it has used the link")
	}
}

// requestAsChild is what the test binary does as another user: it requests the page, and redeems a link.
func requestAsChild(link string) {
	address, code, _ := strings.Cut(link, "#")
	for _, request := range []func() (*http.Response, error){
		func() (*http.Response, error) { return http.Get(address) },
		func() (*http.Response, error) {
			request, err := http.NewRequest(http.MethodPost, address+"open", strings.NewReader(code))
			if err != nil {
				return nil, err
			}
			request.Header.Set("Origin", strings.TrimSuffix(address, "/"))
			return http.DefaultClient.Do(request)
		},
	} {
		if response, err := request(); err == nil {
			fmt.Println("got", response.Status)
			response.Body.Close()
		}
	}
	fmt.Println("done")
}

// TestUnfinishedConnections: connections without a request are bounded, and the page is served again when they
// have ended.
func TestUnfinishedConnections(t *testing.T) {
	s := start(t)
	const most = 128 + 256
	var conns []net.Conn
	for range 600 {
		conn := must.Get(net.Dial("tcp", s.host))(t)
		defer conn.Close()
		conns = append(conns, conn)
	}
	for i, conn := range conns[most:] {
		must.Do(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is open", most+i)
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
	page := func() bool {
		response, err := http.Get("http://" + s.host + "/")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}
	for began := time.Now(); !page(); { // the server learns of each end by itself
		if time.Since(began) > cdptest.Timeout {
			t.Fatal("the page is not served")
		}
	}
}

// TestWholeScriptInPage: what an agent wants to run is there in full, in a part that scrolls, and as text.
func TestWholeScriptInPage(t *testing.T) {
	s := start(t)
	w := openWindow(t, cdptest.BrowserURL(t))
	v := openViewer(t, "")
	v.open(s.Link())
	v.await("a short question", `document.querySelector(".question p")?.textContent.includes("Click")`)
	if v.evaluate(`document.querySelector(".question pre").hidden`) != "true" {
		t.Error("a short question is there twice")
	}
	script := strings.Repeat("nothing;\n", 500) + "evil(); \u202e<img src=x onerror=alert(1)>\n" + strings.Repeat("nothing;\n", 500)
	w.ask("long", script)
	v.await("the whole script", fmt.Sprintf(`document.querySelector(".question pre")?.textContent === %q`,
		strings.Replace(script, "\u202e", "[U+202E]", 1)))
	if got := v.evaluate(`(({scrollHeight, clientHeight}) => scrollHeight > clientHeight && clientHeight <= innerHeight / 2)(
		document.querySelector(".question pre"))`); got != "true" {
		t.Error("it does not scroll")
	}
}
