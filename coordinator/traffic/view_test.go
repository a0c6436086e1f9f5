package traffic

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/cdplog"
)

// TestGapInJSONLines: output for programs stays JSON if messages are missing. A real
// endpoint cannot be made to lose messages.
func TestGapInJSONLines(t *testing.T) {
	var out strings.Builder
	v := &View{Out: &out, JSON: true}
	v.Begin()
	if err := v.Show(cdplog.Line{Time: time.Unix(1, 0).UTC(), Missing: 3}); err != nil ||
		out.String() != `{"time":"1970-01-01T00:00:01Z","lost":3}`+"\n" {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// TestWhatIsShown: filters are lenient, and no text from a client controls the terminal.
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
		filter Filter
		want   []string
	}{
		{Filter{}, []string{"→ Page.enable", "→ Runtime.enable", `→ DOM.enable\x1b[31m`, `not JSON \x1b[31m`, "[1,2]"}},
		{Filter{Domains: []string{"Page", "", " runtime", " "}}, []string{"Page.enable", "Runtime.enable"}},
		{Filter{Methods: []string{"page.*", " RUNTIME.Enable "}}, []string{"Page.enable", "Runtime.enable"}},
		{Filter{Client: "cdp client#1"}, []string{"Page.enable"}},
	} {
		var out strings.Builder
		each.filter.Trim()
		v := &View{Out: &out, Filter: each.filter}
		v.Begin()
		for _, l := range lines {
			if err := v.Show(l); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != len(each.want) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%+v shows %q", each.filter, got)
			continue
		}
		for i, want := range each.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%+v shows %q, want %q", each.filter, got[i], want)
			}
		}
	}
}

// TestSessionsAreNumbered: the output shows which messages belong to one page, and can be
// filtered by it.
func TestSessionsAreNumbered(t *testing.T) {
	lines := []cdplog.Line{
		{Client: "a", Joined: &cdplog.Client{Name: "my.tool#x"}},
		{Client: "a", From: "client", Message: []byte(`{"id":1,"method":"Target.setAutoAttach"}`)},
		{Client: "a", From: "browser", Message: []byte(`{"method":"Target.attachedToTarget",` +
			`"params":{"sessionId":"S","targetInfo":{"url":"http://shop/"}}}`)},
		{Client: "a", From: "browser",
			Message: []byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"T","targetInfo":{}}}`)},
		{Client: "a", From: "client", Message: []byte(`{"id":2,"sessionId":"T","method":"Page.enable"}`)},
		{Client: "a", From: "client", Message: []byte(`{"id":2,"sessionId":"S","method":"DOM.enable"}`)},
		{Client: "a", From: "browser", Message: []byte(`{"id":2,"sessionId":"T","result":{}}`)},
		{Client: "a", From: "browser", Message: []byte(`{"id":2,"sessionId":"S","result":{}}`)},
		{Client: "a", From: "browser",
			Message: []byte(`{"method":"Target.detachedFromTarget","params":{"sessionId":"T"}}`)},
	}
	for client, want := range map[string][]string{
		"": {
			"my.tool#x#1      → Target.setAutoAttach", "my.tool#x#1      ← Target.attachedToTarget " +
				"(my.tool#x#1.1)", "← Target.attachedToTarget (my.tool#x#1.2)",
			"my.tool#x#1.2    → Page.enable", "my.tool#x#1.1    → DOM.enable", "my.tool#x#1.2    ⇐ Page.enable 0.0 " +
				"ms", "my.tool#x#1.1    ⇐ DOM.enable 0.0 ms",
			"my.tool#x#1      ← Target.detachedFromTarget (my.tool#x#1.2)",
		},
		"My.tool#x#1.2": {"→ Page.enable", "⇐ Page.enable"},
		"my.tool#x#1.1": {"→ DOM.enable", "⇐ DOM.enable"},
		"my.tool#x#2":   {""},
	} {
		var out strings.Builder
		v := &View{Out: &out, Filter: Filter{Client: client}}
		v.Begin()
		for _, l := range lines {
			l.Time = time.Unix(1, 0)
			if err := v.Show(l); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != len(want) {
			t.Errorf("%q is shown as %q", client, got)
			continue
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q: shown is %q, want %q", client, got[i], want[i])
			}
		}
	}
}

// TestUnknownNames: a filter with names that Chromium does not have is reported.
func TestUnknownNames(t *testing.T) {
	for _, each := range []struct {
		filter Filter
		want   string
	}{
		{Filter{Domains: []string{"page", "Target"}, Methods: []string{"Runtime.*", "*.enable",
			"Network.requestWillBeSent"}}, ""},
		{Filter{Domains: []string{"Pages"}, Methods: []string{"Page.navigat", "Page.navigate?"}},
			"domain Pages, method Page.navigat, method Page.navigate?"},
	} {
		if got := strings.Join(each.filter.Unknown(), ", "); got != each.want {
			t.Errorf("unknown: %q, want %q", got, each.want)
		}
	}
}
