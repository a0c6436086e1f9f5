package cdpproxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy"
)

// TestTapNotRead: a tap whose reader does not read blocks nothing. It keeps a bounded
// number of bytes, and reports how many messages are missing after them.
func TestTapNotRead(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	p, addr := serveLimited(t, newSource(fake.url()), nil, cdpproxy.Limits{TapBytes: 100_000})
	tap := p.Tap()
	defer tap.Close()
	c := dial(t, addr, "/devtools/browser/x")
	large := `{"id":1,"method":"A.b","x":"` + strings.Repeat("x", 30_000) + `"}`
	taken := func(dropped int, want ...string) {
		t.Helper()
		<-tap.Ready()
		messages, missing := tap.Take()
		var got []string
		for _, m := range messages {
			got = append(got, fmt.Sprint(m.From, " ", string(m.Text)))
		}
		if !slices.Equal(got, want) || missing != dropped {
			t.Errorf("took %.300q, and %d are missing; want %.300q and %d", got, missing, want, dropped)
		}
	}
	for _, text := range []string{large, large, getVersion} {
		if got := call(t, c, text); got != text {
			t.Fatalf("%.60s is answered by %.60s", text, got)
		}
	}
	taken(3, "client "+large, "browser "+large, "client "+large) // what would fit after the gap is missing too
	call(t, c, getVersion)                                       // what was taken still has its room
	taken(0, "client "+getVersion, "browser "+getVersion)
	call(t, c, large)
	send(t, c, `not JSON`)
	c.Read(testContext(t))
	tap.Close()
	call(t, c, getVersion)
	messages, _ := tap.Take()
	if len(messages) != 4 || !strings.HasPrefix(string(messages[3].Text), `{"error"`) ||
		messages[3].From != cdpproxy.FromEndpoint {
		t.Errorf("before its end the tap received %.300v", messages)
	}
}
