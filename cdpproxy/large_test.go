package cdpproxy_test

import (
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/policy"
)

// TestLargeMessageHoldsNobodyUp: while one client's large message is decoded and
// judged, which takes long, the other clients proceed. A rule that blocks stands
// for the time of the decoding.
func TestLargeMessageHoldsNobodyUp(t *testing.T) {
	for name, fragments := range map[string]int{"one frame": 1, "many frames": 100} {
		t.Run(name, func(t *testing.T) {
			busy, goOn := make(chan struct{}), make(chan struct{})
			rule := ruleFunc{judge: func(m *browser.Message) cdpproxy.Decision {
				if m.Method == "A.large" {
					close(busy)
					<-goOn
				}
				return cdpproxy.Decision{Outcome: policy.Allow}
			}}
			_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule})
			other := dial(t, addr, "/devtools/browser/x")
			exchange(t, other, getVersion)
			conn, br := rawUpgrade(t, addr)
			io.WriteString(conn, masked(getVersion))
			readFrame(t, br)
			const size = 4 << 20 // more than is read at once
			go func() {          // ends with the connection
				parts := slices.Collect(slices.Chunk([]byte(command(1, "A.large", size)), size/fragments))
				for i, part := range parts {
					first := byte(0)
					if i == 0 {
						first = opText
					}
					if i == len(parts)-1 {
						first |= 0x80
					}
					io.WriteString(conn, clientFrame(first, string(part)))
				}
			}()
			<-busy
			for range 10 {
				exchange(t, other, getVersion)
			}
			close(goOn)
			if got := readFrame(t, br); !strings.Contains(got, "A.large") {
				t.Errorf("the large command's response: %.200s", got)
			}
		})
	}
}

// live is how much memory is in use.
func live() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestUnfinishedMessages: 20 clients that each leave a message unfinished get no
// more memory than the budget together. What does not fit is refused with the
// reason. Small messages still pass, and there is room again when a client leaves.
func TestUnfinishedMessages(t *testing.T) {
	const clients, size, budget = 20, 4 << 20, 16 << 20
	fake := startFake(t, "127.0.0.1:0", "echo", func(conn net.Conn) { io.Copy(io.Discard, conn) })
	_, addr := serveLimited(t, newSource(fake.url()), &cdpproxy.Options{Rule: refuseAll{why: "done"}},
		cdpproxy.Limits{Memory: budget})
	before := live()
	large := masked(command(1, "A.unfinished", size))
	var sent sync.WaitGroup
	reasons := make(chan string, clients) // why
	var conns []net.Conn
	for range clients {
		conn, br := rawUpgrade(t, addr)
		conns = append(conns, conn)
		sent.Go(func() { io.WriteString(conn, large[:len(large)-1]) }) // fails for refused clients
		go func() {                                                    // ends with the connection
			var head [4]byte
			io.ReadFull(br, head[:])
			reason, _ := io.ReadAll(io.LimitReader(br, int64(max(2, head[1]))-2))
			reasons <- string(reason)
		}()
	}
	sent.Wait()
	if held := live() - before; held > budget+size+clients<<20+8<<20 { // each connection that reads has a buffer
		t.Errorf("%d MB are kept, the budget is %d", held>>20, budget>>20)
	}
	refused := 0
	for range clients - budget/size {
		// If the client was still sending, a reset may overtake the reason.
		if reason := <-reasons; strings.Contains(reason, "16 MB for messages are used up") {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no client got the reason of its refusal")
	}
	if got := call(t, dial(t, addr, "/devtools/browser/x"), getVersion); !strings.Contains(got, "done") {
		t.Errorf("a small message: %s", got)
	}
	for _, conn := range conns {
		conn.Close()
	}
	// Nothing reports that a relay has given its memory back.
	must.Await(t, "a large message is served again", func() bool {
		conn, br := rawUpgrade(t, addr)
		defer conn.Close()
		go io.WriteString(conn, large) // ends with the connection
		answer, _ := io.ReadAll(io.LimitReader(br, 40))
		return strings.Contains(string(answer), `"id":1`)
	})
}
