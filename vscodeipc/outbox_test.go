package vscodeipc

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// TestBegunLineIsFinished: dropping a slow reader's lines keeps the rest of a partly
// sent line.
func TestBegunLineIsFinished(t *testing.T) {
	conn, client := net.Pipe()
	o := newOutbox(conn)
	begun := []byte(`{"begun":true}` + "\n")
	const sent = 5
	o.try = func([]byte) int { return sent } // the system accepts no more
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
