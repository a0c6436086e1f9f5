package vscodeipc

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// TestBegunLineIsFinished: of what a slow reader does not get, the rest of a line
// that it has begun to read is not a part.
func TestBegunLineIsFinished(t *testing.T) {
	conn, client := net.Pipe()
	o := newOutbox(conn)
	begun := []byte(`{"begun":true}` + "\n")
	const sent = 5
	o.try = func([]byte) int { return sent } // the system has no room for more
	o.send(begun)
	o.send([]byte("dropped\n"))
	o.send(make([]byte, maxWaiting))
	go func() {
		o.drain(nil)
		conn.Close()
	}()
	rest, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if want := append(begun[sent:len(begun):len(begun)], `{"type":"bye","payload":{"reason":"slow_reader"`...); !bytes.HasPrefix(rest, want) {
		t.Errorf("it reads on with %.120q", rest)
	}
}
