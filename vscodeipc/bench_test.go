//go:build unix

package vscodeipc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

// BenchmarkPing measures pings in turn with bare echoes over the same kind of socket,
// since the load of a machine changes from one second to the next. In "echo" the sender
// reads the response. In "hop" another goroutine reads it and hands it over, as in any
// client with more than one request in flight.
func BenchmarkPing(b *testing.B) {
	s := serve(b, ServerOptions{Workspace: home(b)})
	c := connect(b, s.Address())
	pingOnce := func() {
		must.Do(b, ping(c, b.Context()))
	}
	names := []string{"ping", "echo", "hop"}
	kinds := []func(){pingOnce, bareEcho(b, false), bareEcho(b, true)}
	took := make([][]time.Duration, len(kinds))
	for b.Loop() {
		for i, do := range kinds {
			for range 20 {
				start := time.Now()
				do()
				took[i] = append(took[i], time.Since(start))
			}
		}
	}
	for i, name := range names {
		b.ReportMetric(quantile(took[i], 0.5), "p50-"+name)
		b.ReportMetric(quantile(took[i], 0.99), "p99-"+name)
	}
}

// quantile returns nanoseconds.
func quantile(took []time.Duration, q float64) float64 {
	slices.Sort(took)
	return float64(took[min(int(float64(len(took))*q), len(took)-1)])
}

// measure reports the quantiles of the durations of do.
func measure(b *testing.B, do func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		do()
		took = append(took, time.Since(start))
	}
	b.ReportMetric(quantile(took, 0.5), "p50")
	b.ReportMetric(quantile(took, 0.99), "p99")
}

// bareEcho returns a function that sends a line of a ping's size and waits for its echo.
// With hop, a goroutine of its own reads the echo.
func bareEcho(b *testing.B, hop bool) func() {
	l := must.Get(net.Listen("unix", filepath.Join(home(b), "echo.sock")))(b)
	var owned sync.WaitGroup
	owned.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}) // no splice
	})
	conn := must.Get(net.Dial("unix", l.Addr().String()))(b)
	b.Cleanup(func() {
		conn.Close()
		l.Close()
		owned.Wait()
	})
	reader := bufio.NewReader(conn)
	read := func() error {
		_, err := reader.ReadSlice('\n')
		return err
	}
	if hop {
		lines := make(chan error, 1)
		direct := read
		owned.Go(func() {
			for err := error(nil); err == nil; {
				err = direct()
				lines <- err
			}
		})
		read = func() error { return <-lines }
	}
	line := []byte(`{"id":1,"type":"ping","version":2}` + "\n")
	return func() {
		if _, err := conn.Write(line); err != nil {
			b.Fatal(err)
		}
		must.Do(b, read())
	}
}

// BenchmarkPush is the time from a new endpoint to a waiting client that can dial it.
func BenchmarkPush(b *testing.B) {
	s := serve(b, ServerOptions{Workspace: home(b)})
	w := Watch(s.Address(), DialOptions{})
	defer w.Close()
	if _, err := w.connection(b.Context()); err != nil {
		b.Fatal(err)
	}
	n := 0
	measure(b, func() {
		n++
		url := fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/6b1e", n)
		setState(b, s, State{Browser: &Browser{URL: url, Via: "injected"}})
		for {
			now, changed := w.Snapshot()
			if now.State.Browser != nil && now.State.Browser.URL == url {
				return
			}
			<-changed
		}
	})
}

// BenchmarkFanOut100 is the time from a change until the last of 100 clients has its
// event.
func BenchmarkFanOut100(b *testing.B) {
	const clients = 100
	s := serve(b, ServerOptions{Workspace: home(b)})
	var have sync.WaitGroup
	for range clients {
		c := connect(b, s.Address())
		listen(b, c)
		go func() {
			for range c.events {
				have.Done()
			}
		}()
	}
	n := 0
	measure(b, func() {
		n++
		have.Add(clients)
		setState(b, s, numbered(n))
		have.Wait()
	})
}

// BenchmarkProbe500 probes 500 sockets, every other one of which is dead, and deletes
// none.
func BenchmarkProbe500(b *testing.B) {
	home(b)
	for n := range 250 {
		fake(b, name(b, 2*n), script(helloAnswer, listenAnswer))
		deadSocket(b, name(b, 2*n+1))
	}
	measure(b, func() {
		verdicts, err := Probe(b.Context(), ProbeOptions{DryRun: true})
		if err != nil || len(verdicts) != 500 {
			b.Fatal(len(verdicts), err)
		}
	})
}

// BenchmarkReconnect is dial, hello and a subscription.
func BenchmarkReconnect(b *testing.B) {
	s := serve(b, ServerOptions{Workspace: home(b)})
	measure(b, func() {
		c := connect(b, s.Address())
		listen(b, c)
		c.close()
	})
}

// BenchmarkMessages100000 reports by how much the heap grows over 100,000 messages.
func BenchmarkMessages100000(b *testing.B) {
	exchange := exchanges(b)
	exchange(5)
	before := heap()
	for b.Loop() {
		exchange(100)
	}
	b.ReportMetric(float64(int64(heap()-before))/float64(b.N), "grown")
}

// TestMemoryStaysTheSame: the heap does not grow over 25,000 messages, not even by one
// small object for each.
func TestMemoryStaysTheSame(t *testing.T) {
	exchange := exchanges(t)
	exchange(5)
	before := heap()
	exchange(25)
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// exchanges returns a function that sends batches of 1,000 requests and reads their
// responses.
func exchanges(t testing.TB) func(batches int) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	c.SetDeadline(time.Now().Add(time.Minute))
	batch := bytes.Repeat([]byte(`{"id":1,"type":"ping","version":2}`+"\n"), 1000)
	return func(batches int) {
		for range batches {
			if _, err := c.Write(batch); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				if _, err := c.lines.ReadSlice('\n'); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
