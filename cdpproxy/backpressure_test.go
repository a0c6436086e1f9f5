package cdpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
)

// smallUpgrade is a client that takes little at once.
func smallUpgrade(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := dialSmall(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	return conn, upgradeOn(t, conn, addr, "/devtools/browser/x")
}

// TestPile: many messages in one piece, to a browser that reads slowly, or from a
// rule that refuses all of them. Each arrives once, whole and in order.
func TestPile(t *testing.T) {
	const messages = 6000
	for name, c := range map[string]struct {
		rule cdpproxy.Rule
		size int
	}{
		"passed": {passAll{}, 1000}, "refused": {refuseAll{why: strings.Repeat("no ", 300)}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startFake(t, "127.0.0.1:0", "echo", echo)
			_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: c.rule})
			conn, br := smallUpgrade(t, addr)
			pile := make([]string, messages)
			for id := range pile {
				pile[id] = masked(command(id, "A.b", c.size))
			}
			go io.WriteString(conn, strings.Join(pile, "")) // ends with the connection
			for id := range messages {
				if got := readFrame(t, br); !strings.HasPrefix(got, fmt.Sprintf(`{"id":%d,`, id)) ||
					!strings.HasSuffix(got, "}") {
					t.Fatalf("message %d: %.60s", id, got)
				}
			}
		})
	}
}

type refuseAll struct {
	passAll
	why string
}

func (r refuseAll) Judge(*cdpproxy.Client, *browser.Message) cdpproxy.Decision {
	return cdpproxy.Decision{Reason: r.why}
}

// TestDeafBrowser: a browser that stops reading a client's messages is drained all
// the same; when it reads again, it gets all of them.
func TestDeafBrowser(t *testing.T) {
	const events, messages = 100, 200
	message := strings.Repeat("e", 100)
	more, listen := make(chan struct{}), make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "deaf", func(conn net.Conn) {
		conn.(*net.TCPConn).SetReadBuffer(smallWindow)
		for range more {
			io.WriteString(conn, "\x81\x64"+message)
		}
		<-listen
		echo(conn)
	})
	_, addr := serve(t, newSource(fake.url()), nil)
	conn, br := smallUpgrade(t, addr)
	pile := make([]string, messages)
	for id := range pile {
		pile[id] = masked(command(id, "A.b", 60_000))
	}
	go io.WriteString(conn, strings.Join(pile, "")) // ends with the connection
	for event := range events {
		more <- struct{}{}
		if got := readFrame(t, br); got != message {
			t.Fatalf("event %d: %.60s", event, got)
		}
	}
	close(more)
	close(listen)
	for id := range messages {
		if got := readFrame(t, br); !strings.HasPrefix(got, fmt.Sprintf(`{"id":%d,`, id)) {
			t.Fatalf("message %d: %.60s", id, got)
		}
	}
}

// TestQueueAll: where a write cannot be ended halfway, everything for a client is queued.
// Messages arrive whole and in order all the same, and the bound holds.
func TestQueueAll(t *testing.T) {
	defer cdpproxy.QueueAll()()
	for name, test := range map[string]func(*testing.T){
		"every size": TestEverySize, "pile": TestPile, "slow reader": TestSlowReader, "switch": TestSwitchInFrame,
		"answers": TestAnswersBehindAFrame,
	} {
		t.Run(name, test)
	}
}
