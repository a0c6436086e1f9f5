package cdpproxy_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
)

// largeCommand is one frame of a client, masked, with a command of that size.
func largeCommand(method string, size int) []byte {
	text := []byte(`{"id":1,"method":"` + method + `","params":{"x":"`)
	text = append(append(text, bytes.Repeat([]byte("x"), size-len(text)-3)...), `"}}`...)
	mask := [4]byte{1, 2, 3, 4}
	for i := range text {
		text[i] ^= mask[i&3]
	}
	frame := binary.BigEndian.AppendUint64([]byte{0x81, 0x80 | 127}, uint64(size))
	return append(append(frame, mask[:]...), text...)
}

// joinRaw connects to addr without a WebSocket library. Its deadline is a minute.
func joinRaw(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, br, _ := rawUpgrade(t, addr, "", "")
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn, br
}

// TestLargeMessageHoldsNobodyUp: while one client's large message is decoded and
// judged, which takes long, the other clients proceed. A rule that blocks stands
// for the time of the decoding.
func TestLargeMessageHoldsNobodyUp(t *testing.T) {
	for name, fragments := range map[string]int{"one frame": 1, "many frames": 100} {
		t.Run(name, func(t *testing.T) {
			busy, goOn := make(chan struct{}), make(chan struct{})
			rule := ruleFunc(func(m *cdpproxy.Message) cdpproxy.Verdict {
				if m.Method == "A.large" {
					close(busy)
					<-goOn
				}
				return cdpproxy.Verdict{}
			})
			_, addr := serve(t, newSource(sharedChromium(t).url), &cdpproxy.Options{Rule: rule})
			other := dial(t, addr, "/devtools/browser/x")
			exchange(t, other, getVersion)
			conn, br := joinRaw(t, addr)
			io.WriteString(conn, masked(getVersion))
			readFrame(t, br)
			const size = 5 << 20
			go func() { // ends with the connection
				if fragments == 1 {
					conn.Write(largeCommand("A.large", size))
					return
				}
				text := largeCommand("A.large", size)[14:]
				for i := range fragments {
					n := len(text) / (fragments - i) &^ 3 // the mask is four bytes
					first := byte(0)
					switch i {
					case 0:
						first = 0x01
					case fragments - 1:
						first, n = 0x80, len(text)
					}
					frame := binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, uint64(n))
					conn.Write(append(append(frame, 1, 2, 3, 4), text[:n]...))
					text = text[n:]
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
// more memory than the budget together, and evicted clients get the reason. A
// client that sends its message slowly keeps its memory.
func TestUnfinishedMessages(t *testing.T) {
	const clients, size, budget = 20, 5 << 20, 48 << 20
	fake := startFake(t, "127.0.0.1:0", "echo", func(conn net.Conn) { io.Copy(io.Discard, conn) })
	_, addr := serveLimited(t, newSource(fake.url()), &cdpproxy.Options{Rule: refuseAll{"done"}},
		cdpproxy.Limits{Memory: budget, StallTimeout: 3 * time.Second, MemoryTimeout: 30 * time.Second})

	slow, slowAnswers := joinRaw(t, addr)
	var honest sync.WaitGroup
	unhurried := make(chan struct{})
	honest.Go(func() {
		message := largeCommand("A.slow", size)
		part := len(message) / 200
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for len(message) > 0 {
			part = min(part, len(message))
			if _, err := slow.Write(message[:part]); err != nil {
				t.Error("the slow client:", err)
				return
			}
			message = message[part:]
			select {
			case <-tick.C:
			case <-unhurried:
			}
		}
	})

	before := live()
	large := largeCommand("A.unfinished", size)
	large = large[:len(large)-1]
	var sent sync.WaitGroup
	left := make(chan string, clients) // why
	for range clients {
		conn, br := joinRaw(t, addr)
		sent.Go(func() { conn.Write(large) }) // fails for evicted clients
		go func() {                           // ends with the connection
			var head [4]byte
			io.ReadFull(br, head[:])
			reason, _ := io.ReadAll(io.LimitReader(br, int64(max(2, head[1]))-2))
			left <- string(reason)
		}()
	}
	sent.Wait()
	if held := live() - before; held > budget+20<<20 {
		t.Errorf("%d MB are kept, the budget is %d", held>>20, budget>>20)
	}
	evicted := 0
	for range clients - budget/size {
		// If the client was still sending, a reset may overtake the reason.
		if reason := <-left; strings.Contains(reason, "48 MB for messages are used up") {
			evicted++
		}
	}
	if evicted == 0 {
		t.Error("no client got the reason of its eviction")
	}
	close(unhurried)
	honest.Wait()
	if got := readFrame(t, slowAnswers); !strings.Contains(got, "done") {
		t.Errorf("the slow client's response: %.100q", got)
	}
}

// TestManyLargeMessages: more large messages at a time than fit into the budget all
// succeed in turn.
func TestManyLargeMessages(t *testing.T) {
	const clients, size = 16, 4 << 20
	fake := startFake(t, "127.0.0.1:0", "echo", func(conn net.Conn) { io.Copy(io.Discard, conn) })
	_, addr := serveLimited(t, newSource(fake.url()), &cdpproxy.Options{Rule: refuseAll{"done"}},
		cdpproxy.Limits{Memory: 48 << 20, StallTimeout: 15 * time.Second, MemoryTimeout: 30 * time.Second})
	message := largeCommand("A.large", size)
	var all sync.WaitGroup
	for range clients {
		conn, br := joinRaw(t, addr)
		all.Go(func() {
			if _, err := conn.Write(message); err != nil {
				t.Error(err)
			} else if got := readFrame(t, br); !strings.Contains(got, "done") {
				t.Errorf("the response: %.100q", got)
			}
		})
	}
	all.Wait()
}
