package main

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// TestGapInJSONLines: what programs read stays JSON where messages are missing,
// which cannot be brought about at will.
func TestGapInJSONLines(t *testing.T) {
	var out strings.Builder
	v := newTrafficView(&out, logFlags{json: true})
	if err := v.show(cdplog.Line{Time: time.Unix(1, 0).UTC(), Lost: 3}); err != nil || out.String() != `{"time":"1970-01-01T00:00:01Z","lost":3}`+"\n" {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// TestWhatIsShown: filters are read generously, and nothing that a client says reaches
// the terminal as a command for it.
func TestWhatIsShown(t *testing.T) {
	lines := []cdplog.Line{
		{Client: "a", Joined: &cdplog.Client{Name: "CDP client"}},
		{Client: "b", Joined: &cdplog.Client{Name: "CDP client"}},
		{Client: "a", From: "client", Message: []byte(`{"id":1,"method":"Page.enable"}`)},
		{Client: "b", From: "client", Message: []byte(`{"id":1,"method":"Runtime.enable"}`)},
		{Client: "b", From: "client", Message: []byte(`{"id":2,"method":"DOM.enable\u001b[31m"}`)},
		{Client: "b", From: "client", Text: "not JSON \x1b[31m"},
		{Client: "b", From: "client", Message: []byte(`[1,2]`)},
	}
	for _, each := range []struct {
		flags logFlags
		want  []string
	}{
		{logFlags{}, []string{"→ Page.enable", "→ Runtime.enable", "→ DOM.enable\ufffd[31m", "not JSON \ufffd[31m", "[1,2]"}},
		{logFlags{domains: []string{"Page", "", " runtime", " "}}, []string{"Page.enable", "Runtime.enable"}},
		{logFlags{methods: []string{"page.*", " RUNTIME.Enable "}}, []string{"Page.enable", "Runtime.enable"}},
		{logFlags{client: "cdp client#1"}, []string{"Page.enable"}},
	} {
		var out strings.Builder
		each.flags.tidy()
		v := newTrafficView(&out, each.flags)
		for _, l := range lines {
			if err := v.show(l); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != len(each.want) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%+v shows %q", each.flags, got)
			continue
		}
		for i, want := range each.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%+v shows %q, want %q", each.flags, got[i], want)
			}
		}
	}
}

// TestSessionsAreNumbered: who reads the traffic sees what belongs to one page, and may
// see that alone.
func TestSessionsAreNumbered(t *testing.T) {
	lines := []cdplog.Line{
		{Client: "a", Joined: &cdplog.Client{Name: "my.tool#x"}},
		{Client: "a", From: "client", Message: []byte(`{"id":1,"method":"Target.setAutoAttach"}`)},
		{Client: "a", From: "browser", Message: []byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"url":"http://shop/"}}}`)},
		{Client: "a", From: "browser", Message: []byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"T","targetInfo":{}}}`)},
		{Client: "a", From: "client", Message: []byte(`{"id":2,"sessionId":"T","method":"Page.enable"}`)},
		{Client: "a", From: "client", Message: []byte(`{"id":2,"sessionId":"S","method":"DOM.enable"}`)},
		{Client: "a", From: "browser", Message: []byte(`{"id":2,"sessionId":"T","result":{}}`)},
		{Client: "a", From: "browser", Message: []byte(`{"id":2,"sessionId":"S","result":{}}`)},
		{Client: "a", From: "browser", Message: []byte(`{"method":"Target.detachedFromTarget","params":{"sessionId":"T"}}`)},
	}
	for who, want := range map[string][]string{
		"": {
			"my.tool#x#1      → Target.setAutoAttach", "my.tool#x#1      ← Target.attachedToTarget (my.tool#x#1.1)", "← Target.attachedToTarget (my.tool#x#1.2)",
			"my.tool#x#1.2    → Page.enable", "my.tool#x#1.1    → DOM.enable", "my.tool#x#1.2    ⇐ Page.enable 0.0 ms", "my.tool#x#1.1    ⇐ DOM.enable 0.0 ms",
			"my.tool#x#1      ← Target.detachedFromTarget (my.tool#x#1.2)",
		},
		"My.tool#x#1.2": {"→ Page.enable", "⇐ Page.enable"},
		"my.tool#x#1.1": {"→ DOM.enable", "⇐ DOM.enable"},
		"my.tool#x#2":   {""},
	} {
		var out strings.Builder
		v := newTrafficView(&out, logFlags{client: who})
		for _, l := range lines {
			l.Time = time.Unix(1, 0)
			if err := v.show(l); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != len(want) {
			t.Errorf("%q is shown as %q", who, got)
			continue
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q: shown is %q, want %q", who, got[i], want[i])
			}
		}
	}
}

// TestUnknownNames: who asks for what Chromium does not have is told so.
func TestUnknownNames(t *testing.T) {
	for _, each := range []struct {
		flags logFlags
		want  string
	}{
		{logFlags{domains: []string{"page", "Target"}, methods: []string{"Runtime.*", "*.enable", "Network.requestWillBeSent"}}, ""},
		{logFlags{domains: []string{"Pages"}, methods: []string{"Page.navigat", "Page.navigate?"}}, "domain Pages, method Page.navigat, method Page.navigate?"},
	} {
		if got := strings.Join(each.flags.unknown(), ", "); got != each.want {
			t.Errorf("unknown: %q, want %q", got, each.want)
		}
	}
}
