//go:build !noeventloop

package cdpproxy_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
)

// parkedOrNot lists whether the loop may have a relay.
var parkedOrNot = []bool{true, false}

// watchedByLoop requires that the loop watches so many descriptors. It waits for
// the last ones.
func watchedByLoop(t *testing.T, p *cdpproxy.Proxy, n int) {
	t.Helper()
	eventually(t, func() bool {
		watched, known, err := p.Watched()
		return err == nil && watched == n && known == n
	})
}

// TestReusedDescriptors: between an event and its handling, the descriptor may have
// become another relay's. Here the loop always gets events for descriptors without
// data. Meanwhile clients come, leave the loop, return to it and go, so that each
// number belongs to many relays in turn. No client ever gets another's data, or is
// disconnected.
func TestReusedDescriptors(t *testing.T) {
	const clients, visits = 6, 4
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	p, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: passAll{}})
	get(t, addr, "/json/version", nil) // the loop has started
	stop, err := p.Stale(80)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for visit := range visits {
				if err := visitOf(t, addr, fmt.Sprintf("client %d, visit %d", client, visit)); err != nil {
					t.Errorf("client %d, visit %d: %v", client, visit, err)
				}
			}
		})
	}
	wg.Wait()
}

// visitOf sends small messages and a large one, and requires just those back.
func visitOf(t *testing.T, addr, name string) error {
	ctx := testContext(t)
	c, _, err := websocket.Dial(ctx, "ws://"+addr+"/devtools/browser/x", &websocket.DialOptions{HTTPClient: &http.Client{
		Transport: &http.Transport{DialContext: dialSmall},
	}})
	if err != nil {
		return err
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	for i := range 40 {
		text := fmt.Sprintf(`{"id":%d,"method":"A.b","x":"%s"}`, i, name)
		if i == 10 {
			text = fmt.Sprintf(`{"id":%d,"method":"A.b","x":"%s"}`, i, strings.Repeat(name, 40_000))
		}
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			return err
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != text {
			return fmt.Errorf("after %.60s: %.60s, %w", text, got, err)
		}
	}
	return nil
}

// TestLeftDescriptors: the loop never reads from a descriptor that no longer
// belongs to a relay, whatever events it gets for it.
func TestLeftDescriptors(t *testing.T) {
	const relays, others = 20, 80
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	watcher := newJoined()
	p, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Watcher: watcher})
	var clients []*websocket.Conn
	for range relays {
		c := dial(t, addr, "/devtools/browser/x")
		<-watcher.came
		<-watcher.ends
		call(t, c, getVersion)
		clients = append(clients, c)
	}
	late := p.Late()
	for _, c := range clients {
		c.CloseNow()
		<-watcher.left
	}
	const text = "not for the loop"
	var ours [][2]int
	for range others {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		for _, fd := range pair {
			if _, err := unix.Write(fd, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		ours = append(ours, pair)
	}
	stop, err := p.Stale(150)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := dial(t, addr, "/devtools/browser/x")
	for range 20 { // the loop handles each descriptor with data, in turn
		if got := call(t, c, getVersion); got != getVersion {
			t.Fatalf("%s", got)
		}
	}
	for _, look := range late {
		look()
	}
	b := make([]byte, 100)
	for _, pair := range ours {
		for _, fd := range pair {
			if n, err := unix.Read(fd, b); err != nil || string(b[:n]) != text {
				t.Errorf("descriptor %d holds %q, %v", fd, b[:max(n, 0)], err)
			}
		}
	}
}

// TestTail: bytes that a side has not taken when its relay leaves the loop reach
// that side, even if nothing follows.
func TestTail(t *testing.T) { eachWay(t, tail) }

func tail(t *testing.T, rule cdpproxy.Rule) {
	const size = 60_000
	pieces, listen := make(chan int), make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "deaf", func(conn net.Conn) {
		conn.(*net.TCPConn).SetReadBuffer(smallWindow)
		for size := range pieces {
			conn.Write(frame(size, 'e'))
		}
		<-listen
		echo(conn)
	})
	p, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
	conn, br := smallUpgrade(t, addr)
	// until sends more, piece by piece, until the relay has left the loop, and
	// returns how many pieces it sent.
	until := func(say func(n int), took func() uint64) (n int) {
		before := took()
		for parked := true; parked; n++ {
			say(n)
			for parked && took()-before < uint64((n+1)*size) {
				_, _, parked = p.Only()
			}
		}
		return n
	}
	up := func() uint64 { up, _, _ := p.Only(); return up }
	down := func() uint64 { _, down, _ := p.Only(); return down }

	said := until(func(int) { pieces <- size }, down)
	for n := range said {
		if got := readLarge(t, br); got != strings.Repeat("e", size) {
			t.Fatalf("piece %d of %d from the browser: %.60s", n, said, got)
		}
	}
	// Back to the loop.
	for _, _, parked := p.Only(); !parked; _, _, parked = p.Only() {
		pieces <- 10
		readLarge(t, br)
	}
	said = until(func(n int) { conn.Write(command(n, size)) }, up)
	for range 40 { // it would return to the loop, and must not yet
		pieces <- 10
		readLarge(t, br)
	}
	close(pieces)
	close(listen)
	for n := range said {
		if got := readFrame(t, br); !strings.HasPrefix(got, fmt.Sprintf(`{"id":%d,`, n)) {
			t.Fatalf("piece %d of %d from the client: %.60s", n, said, got)
		}
	}
}
