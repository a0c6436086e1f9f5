package cdpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/policy"
)

// The cost of the access rule in a round trip: a mutating command in full mode with
// an Activity. The benchmarks alternate between an endpoint with the rule and one
// without it, so that both are measured under the same load.

const benchedAct = `{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`

// inTurns measures the round trips of two connections.
func inTurns(b *testing.B, without, with func()) {
	took := [2][]time.Duration{}
	trips := [2]func(){without, with}
	for turn := 0; b.Loop(); turn++ {
		for i := range trips {
			each := (turn + i) % 2
			start := time.Now()
			trips[each]()
			took[each] = append(took[each], time.Since(start))
		}
	}
	var median [2]float64
	for each := range took {
		slices.Sort(took[each])
		median[each] = float64(took[each][len(took[each])/2].Nanoseconds())
	}
	b.ReportMetric(median[0], "p50-ns-without")
	b.ReportMetric(median[1], "p50-ns-with")
	b.ReportMetric(100*(median[1]/median[0]-1), "%-more")
}

func withAndWithout(b *testing.B, browser string) (without, with string) {
	_, without = serve(b, newSource(browser), &cdpproxy.Options{})
	_, with = ruled(b, newUser(policy.ModeFull), browser, &access.RuleOptions{Activity: func(access.Entry) {}})
	return without, with
}

// BenchmarkRuleChromium evaluates in a real browser.
func BenchmarkRuleChromium(b *testing.B) {
	without, with := withAndWithout(b, sharedChromium(b).url)
	id, _ := directTab(b, "about:blank")
	trip := func(addr string) func() {
		conn := dial(b, addr, "/devtools/page/"+id)
		return func() {
			if err := conn.Write(b.Context(), websocket.MessageText, []byte(benchedAct)); err != nil {
				b.Fatal(err)
			}
			if _, _, err := conn.Read(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	inTurns(b, trip(without), trip(with))
}

// BenchmarkRuleEcho uses a peer in the same process that only echoes: the shortest
// possible round trip.
func BenchmarkRuleEcho(b *testing.B) {
	request := []byte(masked(benchedAct))
	answer := append([]byte{0x81, 2}, "{}"...)
	fake := startFake(b, "127.0.0.1:0", "echo", func(conn net.Conn) {
		for in := make([]byte, len(request)); ; {
			if _, err := io.ReadFull(conn, in); err != nil {
				return
			}
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	})
	without, with := withAndWithout(b, fake.url())
	trip := func(addr string) func() {
		conn, br, res := rawUpgrade(b, addr, "", "")
		if res.StatusCode != 101 {
			b.Fatalf("HTTP %d", res.StatusCode)
		}
		return func() { echoOnce(b, conn, br, request, make([]byte, len(answer))) }
	}
	inTurns(b, trip(without), trip(with))
}

func echoOnce(b *testing.B, conn net.Conn, br *bufio.Reader, request, reply []byte) {
	if _, err := conn.Write(request); err != nil {
		b.Fatal(fmt.Errorf("write: %w", err))
	}
	if _, err := io.ReadFull(br, reply); err != nil {
		b.Fatal(fmt.Errorf("read: %w", err))
	}
}
