package cdpproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/policy"
)

type passAll struct{}

func (passAll) Join(context.Context, *cdpproxy.Client) error { return nil }
func (passAll) Register(*cdpproxy.Client, func(string))      {}
func (passAll) Observe(*cdpproxy.Client, *browser.Message)   {}
func (passAll) Unregister(*cdpproxy.Client)                  {}
func (passAll) Judge(*cdpproxy.Client, *browser.Message) cdpproxy.Decision {
	return cdpproxy.Decision{Outcome: policy.Allow}
}

// smallWindow makes a side take little at once. With less than two packets of the
// loopback, TCP itself stalls.
const smallWindow = 256 << 10

// echo is a browser that responds to each message with the same message, of any
// size.
func echo(conn net.Conn) {
	conn.(*net.TCPConn).SetReadBuffer(smallWindow)
	in := bufio.NewReader(conn)
	for {
		var h [14]byte
		if _, err := io.ReadFull(in, h[:2]); err != nil {
			return
		}
		size, extra := uint64(h[1]&0x7f), map[byte]int{126: 2, 127: 8}[h[1]&0x7f]
		if _, err := io.ReadFull(in, h[2:2+extra+4]); err != nil {
			return
		}
		switch extra {
		case 2:
			size = uint64(binary.BigEndian.Uint16(h[2:]))
		case 8:
			size = binary.BigEndian.Uint64(h[2:])
		}
		h[1] &= 0x7f
		message := make([]byte, 2+extra+int(size))
		copy(message, h[:2+extra])
		mask := h[2+extra : 2+extra+4]
		payload := message[2+extra:]
		if _, err := io.ReadFull(in, payload); err != nil {
			return
		}
		if [4]byte(mask) != [4]byte{} { // the race detector makes each byte slow
			for i := range payload {
				payload[i] ^= mask[i&3]
			}
		}
		if _, err := conn.Write(message); err != nil {
			return
		}
	}
}

func dialSmall(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(smallWindow)
	}
	return conn, err
}

// TestEverySize: messages of every size, by a client that reads sometimes at
// once and sometimes late, so that both sides wait for each other again and again.
// Nothing is lost, duplicated or out of order.
func TestEverySize(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serve(t, newSource(fake.url()), nil)
	c, ctx := dialBy(t, addr, "/devtools/browser/x", dialSmall), testContext(t)
	count := 0
	for round := range 3 {
		// Small ones, one at a time; then many at once.
		for range 40 {
			text := fmt.Sprintf(`{"id":%d,"method":"A.b"}`, count)
			if got := call(t, c, text); got != text {
				t.Fatalf("round %d: %.50s, want %s", round, got, text)
			}
			count++
		}
		var pile [][]byte
		for range 8 {
			filler := bytes.Repeat([]byte{byte('a' + count%26)}, []int{10, 1_000_000}[rand.IntN(2)])
			pile = append(pile, fmt.Appendf(nil, `{"id":%d,"method":"A.b","params":{"x":"%s"}}`, count, filler))
			count++
		}
		for _, text := range pile {
			send(t, c, string(text))
		}
		for i, want := range pile {
			_, got, err := c.Read(ctx)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("round %d, message %d: %d bytes %.20s, %v; want %d %.20s", round, i, len(got), got, err,
					len(want), want)
			}
		}
	}
}
