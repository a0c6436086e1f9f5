//go:build !noeventloop

package cdpproxy_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
)

// TestLargeFrameInPieces: in the middle of a large frame the relay wakes only for
// many bytes at once. The end of the frame reaches the client as soon as it is
// there. So do the bytes after it and the end of the browser.
func TestLargeFrameInPieces(t *testing.T) { eachWay(t, largeFrameInPieces) }

func largeFrameInPieces(t *testing.T, rule cdpproxy.Rule) {
	const size = 8 * cdpproxy.LowWater
	pieces := make(chan []byte)
	fake := startFake(t, "127.0.0.1:0", "pieces", func(conn net.Conn) {
		for piece := range pieces {
			conn.Write(piece)
		}
	})
	_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
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
