package cdpproxy_test

import (
	"io"
	"net"
	"strings"
	"testing"
)

// TestLargeFrameInPieces: in the middle of a large frame the relay waits for many bytes
// at once. The end of the frame reaches the client all the same, also if it is a single
// byte. So do the frames after it and the end of the browser.
func TestLargeFrameInPieces(t *testing.T) {
	const size = 4 << 20
	pieces := make(chan []byte)
	fake := startFake(t, "127.0.0.1:0", "pieces", func(conn net.Conn) {
		for piece := range pieces {
			conn.Write(piece)
		}
	})
	_, addr := serve(t, newSource(fake.url()), nil)
	_, br := rawUpgrade(t, addr)
	whole := frame(size, 'x')
	for range 3 {
		go func() {
			pieces <- whole[:1000]
			pieces <- whole[1000 : size-1]
			pieces <- whole[size-1:]
		}()
		if got := readFrame(t, br); got != strings.Repeat("x", size) {
			t.Fatalf("a frame of %d bytes, want %d", len(got), size)
		}
		for range 2 {
			pieces <- frame(10, 's')
			if got := readFrame(t, br); got != strings.Repeat("s", 10) {
				t.Fatalf("then %q", got)
			}
		}
	}
	pieces <- whole[:size/2]
	close(pieces)
	if got, err := io.ReadAll(br); err != nil || string(got) != string(whole[:size/2]) {
		t.Errorf("at the browser's end: %d bytes, %v", len(got), err)
	}
}
