package cdpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
)

// ways are the ways to a browser that the benchmarks compare.
func ways(b *testing.B, browserURL string) map[string]string {
	u, err := url.Parse(browserURL)
	if err != nil {
		b.Fatal(err)
	}
	reverse := httptest.NewServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: u.Host}))
	b.Cleanup(reverse.Close)
	_, addr := serve(b, newSource(browserURL), &cdpproxy.Options{})
	_, ruled := serve(b, newSource(browserURL), &cdpproxy.Options{Rule: passAll{}})
	return map[string]string{"direct": u.Host, "endpoint": addr, "rule": ruled, "reverseproxy": reverse.Listener.Addr().String()}
}

// order: "rule" is the endpoint with every message read for a rule.
var order = []string{"direct", "endpoint", "rule", "reverseproxy"}

type passAll struct{}

func (passAll) Judge(*cdpproxy.Message) cdpproxy.Verdict { return cdpproxy.Verdict{} }

// BenchmarkEcho is a round trip of 100 bytes with a peer that only echoes.
func BenchmarkEcho(b *testing.B) {
	const size = 100
	fake := startFake(b, "127.0.0.1:0", "echo", func(conn net.Conn) {
		in, out := make([]byte, 6+size), frameShort(size)
		for {
			if _, err := io.ReadFull(conn, in); err != nil {
				return
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	})
	ways := ways(b, fake.url())
	request := []byte(masked(fmt.Sprintf("%-*s", size, `{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)))
	for _, way := range order {
		b.Run(way, func(b *testing.B) {
			conn, br := upgraded(b, ways[way], fake.guid)
			reply := make([]byte, 2+size)
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(br, reply); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDown is a browser that sends frames of 1 MB as fast as it can.
func BenchmarkDown(b *testing.B) {
	const size, count = 1 << 20, 64
	const ask = `{"method":"x"}`
	fake := startFake(b, "127.0.0.1:0", "down", func(conn net.Conn) {
		in, out := make([]byte, 6+len(ask)), frame(size, 'x')
		for {
			if _, err := io.ReadFull(conn, in); err != nil {
				return
			}
			for range count {
				if _, err := conn.Write(out); err != nil {
					return
				}
			}
		}
	})
	ways := ways(b, fake.url())
	for _, way := range order {
		b.Run(way, func(b *testing.B) {
			conn, br := upgraded(b, ways[way], fake.guid)
			buf := make([]byte, 1<<20)
			b.SetBytes(size * count)
			for b.Loop() {
				if _, err := io.WriteString(conn, masked(ask)); err != nil {
					b.Fatal(err)
				}
				for left := count * (10 + size); left > 0; {
					n, err := br.Read(buf[:min(left, len(buf))])
					if err != nil {
						b.Fatal(err)
					}
					left -= n
				}
			}
		})
	}
}

// BenchmarkChromium asks a real browser for its version.
func BenchmarkChromium(b *testing.B) {
	c := sharedChromium(b)
	ways := ways(b, c.url)
	for _, way := range order {
		b.Run(way, func(b *testing.B) {
			ctx := b.Context()
			conn, _, err := websocket.Dial(ctx, "ws://"+ways[way]+c.url[len("ws://")+len(ways["direct"]):], nil)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.CloseNow()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := conn.Write(ctx, websocket.MessageText, []byte(getVersion)); err != nil {
					b.Fatal(err)
				}
				if _, _, err := conn.Read(ctx); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

func frameShort(size int) []byte {
	return append([]byte{0x81, byte(size)}, make([]byte, size)...)
}

func upgraded(b *testing.B, addr, guid string) (net.Conn, *bufio.Reader) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	br, res := upgradeOn(b, conn, addr, "/devtools/browser/"+guid, "", "")
	if res.StatusCode != 101 {
		b.Fatalf("HTTP %d", res.StatusCode)
	}
	return conn, br
}
