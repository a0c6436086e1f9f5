package cdplog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// sent is a line with a message of the client c1.
func sent(message string) cdplog.Line {
	l := cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: "c1", From: "client"}
	l.SetMessage([]byte(message))
	return l
}

// received is a line with a message to the client c1.
func received(message string) cdplog.Line {
	return cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: "c1", From: "browser", Message: json.RawMessage(message)}
}

// record is a recording of the client c1.
func record(t *testing.T, version, targets string, lines ...cdplog.Line) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	for _, l := range append([]cdplog.Line{
		{Format: cdplog.Format, Version: cdplog.Version, Browser: json.RawMessage(version), Targets: json.RawMessage(targets)},
		{Time: time.Unix(1, 0).UTC(), Client: "c1", Joined: &cdplog.Client{Name: "Go program", Path: "/devtools/browser/x"}},
	}, lines...) {
		if err := to.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.NewReader(out.Bytes())
}

// served plays a recording until the test ends, at the returned HOST:PORT.
func served(t *testing.T, p *cdplog.Player) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ln) }()
	t.Cleanup(func() {
		p.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// document decodes the JSON response to a path.
func document(t *testing.T, url string, into any) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json; charset=UTF-8" {
		t.Fatalf("%s: %s, %v, %v", url, res.Status, res.Header, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v: %.200s", url, err, text)
	}
}

// TestProtocol: clients that request the protocol before they connect get it.
func TestProtocol(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`, sent(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	var protocol struct{ Domains []struct{ Domain string } }
	document(t, "http://"+served(t, p)+"/json/protocol", &protocol)
	names := map[string]bool{}
	for _, d := range protocol.Domains {
		names[d.Domain] = true
	}
	if !names["Page"] || !names["Runtime"] || !names["Target"] {
		t.Errorf("the domains are %v", names)
	}
}

// TestOwnAddress: a replay contains only its own address, also in the links to the
// DevTools front end, and leaves other text unchanged.
func TestOwnAddress(t *testing.T) {
	const (
		there = "127.0.0.1:20999"
		title = "ws://127.0.0.1:1/ and ws://" + there + "/devtools/page/A"
	)
	type target struct {
		Title, URL, WebSocketDebuggerURL, DevtoolsFrontendURL string
	}
	p, err := cdplog.Open(record(t,
		`{"Browser":"`+title+`","webSocketDebuggerUrl":"ws://`+there+`/devtools/browser/x"}`,
		`[{"title":"`+title+`","url":"data:,`+title+`","webSocketDebuggerUrl":"ws://`+there+`/devtools/page/A",
		   "devtoolsFrontendUrl":"https://front.example/inspector.html?ws=`+there+`/devtools/page/A"}]`,
		sent(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	here := served(t, p)
	var version struct{ Browser, WebSocketDebuggerURL string }
	document(t, "http://"+here+"/json/version", &version)
	if version.Browser != title || version.WebSocketDebuggerURL != "ws://"+here+"/devtools/browser/x" {
		t.Errorf("the version is %q", version)
	}
	want := target{title, "data:," + title, "ws://" + here + "/devtools/page/A", "https://front.example/inspector.html?ws=" + here + "/devtools/page/A"}
	for _, path := range []string{"/json", "/json/list", "/json/list/"} {
		var targets []target
		document(t, "http://"+here+path, &targets)
		if len(targets) != 1 || targets[0] != want {
			t.Errorf("%s is %q, want %q", path, targets, want)
		}
	}
}

// TestTorn: an incomplete recording is replayed up to its end, with a warning. A file
// that is no recording gets an error.
func TestTorn(t *testing.T) {
	whole, err := io.ReadAll(record(t, `{}`, `[]`, sent(`{"id":1,"method":"Page.enable"}`), sent(`{"id":2,"method":"DOM.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := cdplog.Read(bytes.NewReader(whole[:len(whole)-20]), func(cdplog.Line) error { return nil }); !errors.Is(err, cdplog.ErrTorn) {
		t.Errorf("torn, read: %v", err)
	}
	early, err := io.ReadAll(record(t, `{}`, `[]`, sent(`{"id":1,"method":"Page.enable"}`), cdplog.Line{Time: time.Unix(1, 0), Cut: "the power went"}))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"its last line is not whole": whole[:len(whole)-20], "the power went": early} {
		var warned bytes.Buffer
		p, err := cdplog.Open(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Log = slog.New(slog.NewTextHandler(&warned, nil))
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		if err := p.Serve(ln); err != nil || !strings.Contains(warned.String(), name) {
			t.Errorf("%s: %v, warned of %s", name, err, &warned)
		}
	}
	middle := bytes.Replace(whole, []byte(`"id":1`), []byte(`"id":`), 1)
	if _, err := cdplog.Open(bytes.NewReader(middle)); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("broken in the middle: %v", err)
	}
	for _, text := range []string{"", "\n", "hello", "{}", "\n{}\n", "\n{\"format\":\"cdp-log\",\"version\":2}\n"} {
		if _, err := cdplog.Open(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "this is no recording") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
