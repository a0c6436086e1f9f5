package cdpproxy_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
)

// TestLargeFrameInPieces: in the middle of a large frame the relay wakes only for
// many bytes at once, in the loop or with its own goroutines. The end of the frame
// reaches the client as soon as it is there. So do the bytes after it and the end
// of the browser.
func TestLargeFrameInPieces(t *testing.T) {
	for _, parked := range parkedOrNot {
		t.Run(fmt.Sprintf("parked=%v", parked), func(t *testing.T) {
			eachWay(t, func(t *testing.T, rule cdpproxy.Rule) { largeFrameInPieces(t, rule, parked) })
		})
	}
}

func largeFrameInPieces(t *testing.T, rule cdpproxy.Rule, parked bool) {
	const size = 8 * cdpproxy.LowWater
	pieces := make(chan []byte)
	fake := startFake(t, "127.0.0.1:0", "pieces", func(conn net.Conn) {
		for piece := range pieces {
			conn.Write(piece)
		}
	})
	p, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
	get(t, addr, "/json/version", nil)
	if !parked {
		p.EndLoop()
	}
	conn, br, _ := rawUpgrade(t, addr, "", "")
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	var upstream int
	settled := func() bool { // there are two while it changes hands
		_, upstreams := legs(t, addr, fake.addr)
		if len(upstreams) == 1 {
			upstream = upstreams[0]
		}
		return len(upstreams) == 1
	}
	eventually(t, func() bool { _, _, now := p.Only(); return settled() && now == parked })
	wokenFor := func(want int) {
		t.Helper()
		eventually(t, func() bool {
			if !settled() {
				return false
			}
			got, err := unix.GetsockoptInt(upstream, unix.SOL_SOCKET, unix.SO_RCVLOWAT)
			return err == nil && got == want
		})
	}
	// begin sends so much of a frame that the relay has left a good part of it
	// unread, and returns how much that is. At first the relay may still read what
	// did not wake it.
	begin := func(whole []byte) (sent int) {
		t.Helper()
		const beginning, piece, enough = 1000, 10_000, 300_000
		pieces <- whole[:beginning]
		wokenFor(cdpproxy.LowWater)
		for sent = beginning; sent < len(whole)-2*cdpproxy.LowWater; sent += piece {
			if settled() {
				if unread, err := unix.IoctlGetInt(upstream, unix.TIOCINQ); err == nil && unread >= enough {
					return sent
				}
			}
			pieces <- whole[sent : sent+piece]
		}
		t.Fatal("the relay is woken for little")
		return 0
	}

	whole := frame(size, 'x')
	sent := begin(whole)
	if _, _, now := p.Only(); now != parked {
		t.Fatalf("the loop has the relay: %v", now)
	}
	for range 3 {
		go func() {
			pieces <- whole[sent : len(whole)-1]
			pieces <- whole[len(whole)-1:]
		}()
		if got := readLarge(t, br); got != strings.Repeat("x", size) {
			t.Fatalf("a frame of %d bytes, want %d", len(got), size)
		}
		for range 2 {
			pieces <- frame(10, 's')
			if got := readLarge(t, br); got != strings.Repeat("s", 10) {
				t.Fatalf("then %q", got)
			}
		}
		wokenFor(1)
		sent = begin(whole)
	}
	close(pieces)
	if got, err := io.ReadAll(br); err != nil || string(got) != string(whole[:sent]) {
		t.Errorf("at the browser's end: %d bytes, %v; want %d", len(got), err, sent)
	}
}
