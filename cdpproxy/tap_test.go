package cdpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy"
)

// received drains a tap. It returns the texts, and how many messages are lost before
// which of them.
func received(tap *cdpproxy.Tap) (texts []string, lost map[int]int) {
	lost = map[int]int{}
	for len(tap.C()) > 0 {
		m := <-tap.C()
		if n := tap.Took(m); n > 0 {
			lost[len(texts)] = n
		}
		texts = append(texts, string(m.From)+" "+string(m.Text))
	}
	return texts, lost
}

// TestTapNotRead: a tap whose reader does not read blocks nothing. It keeps a
// bounded number of messages and bytes, and reports where how many are missing.
func TestTapNotRead(t *testing.T) {
	t.Parallel()
	big := frame(30_000, 'x')
	fake := startFake(t, "127.0.0.1:0", "answers", func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			var h [6]byte
			if _, err := io.ReadFull(in, h[:]); err != nil {
				return
			}
			text := make([]byte, h[1]&0x7f)
			if _, err := io.ReadFull(in, text); err != nil {
				return
			}
			for i := range text {
				text[i] ^= h[2+i&3]
			}
			answer := big
			if !strings.Contains(string(text), "A.large") {
				answer = append([]byte{0x81, byte(len(text))}, text...)
			}
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	})
	p, addr := serveLimited(t, newSource(fake.url()), ruledOnly, cdpproxy.Limits{TapMessages: 1000, TapBytes: 130_000})
	tap := p.Tap()
	defer tap.Close()
	c := dial(t, addr, "/devtools/browser/x")
	sent := 0
	exchange := func() string {
		t.Helper()
		sent++
		text := fmt.Sprintf(`{"id":%d,"method":"A.b"}`, sent)
		if got := call(t, c, text); got != text {
			t.Fatalf("%s is answered by %.60s", text, got)
		}
		return text
	}
	for range 510 {
		exchange()
	}
	texts, lost := received(tap)
	if len(texts) != 1000 || len(lost) > 0 {
		t.Fatalf("%d messages were kept, and %v are missing before them", len(texts), lost)
	}
	for i, text := range texts {
		from := [2]string{"client", "browser"}[i%2]
		if want := fmt.Sprintf(`%s {"id":%d,"method":"A.b"}`, from, i/2+1); text != want {
			t.Fatalf("message %d is %s, want %s", i, text, want)
		}
	}
	text := exchange()
	if texts, lost := received(tap); len(texts) != 2 || texts[0] != "client "+text || lost[0] != 20 || len(lost) != 1 {
		t.Errorf("then came %v, with %v missing before", texts, lost)
	}

	cutOff := p.Tap()
	defer cutOff.Close()
	for range 5 { // more than fits
		if got := call(t, c, `{"id":0,"method":"A.large"}`); len(got) != 30_000 {
			t.Fatalf("%d bytes", len(got))
		}
	}
	// There is still room for small ones.
	if texts, lost := received(tap); len(texts) != 9 || len(lost) > 0 || len(texts[7]) < 30_000 || texts[8] != `client {"id":0,"method":"A.large"}` {
		t.Errorf("%d messages were kept, with %v missing", len(texts), lost)
	}
	if lost := cutOff.Close(); lost != 1 || len(cutOff.C()) != 9 {
		t.Errorf("of a tap that is closed then %d messages wait and %d are said to be missing behind them", len(cutOff.C()), lost)
	}
	exchange()
	if texts, lost := received(tap); len(texts) != 2 || lost[0] != 1 {
		t.Errorf("then came %v, with %v missing before", texts, lost)
	}

	// A reader that resumes gets everything again, and a closed tap keeps nothing.
	other := dial(t, addr, "/devtools/browser/x")
	send(t, other, `not JSON`)
	other.Read(testContext(t))
	if texts, lost := received(tap); len(texts) != 2 || !strings.HasPrefix(texts[1], "endpoint ") || len(lost) > 0 {
		t.Errorf("received %v, %v missing", texts, lost)
	}
	tap.Close()
	exchange()
	if texts, _ := received(tap); len(texts) > 0 {
		t.Errorf("after its end a tap received %v", texts)
	}
}
