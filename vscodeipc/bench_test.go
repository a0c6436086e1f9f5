//go:build unix

package vscodeipc_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// BenchmarkPing measures pings in turn with bare echoes over the same kind of
// socket, since a busy machine changes from one second to the next. "echo" is
// read by the goroutine that asked; "hop" by another that hands it over, as any
// client must that has more than one request in flight.
func BenchmarkPing(b *testing.B) {
	s := serve(b, vscodeipc.ServerOptions{Workspace: home(b)})
	c := dial(b, s.Address())
	ping := func() {
		if err := c.Ping(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	names := []string{"ping", "echo", "hop"}
	kinds := []func(){ping, bareEcho(b, false), bareEcho(b, true)}
	took := make([]time.Duration, len(kinds))
	rounds := 0
	for b.Loop() {
		for i, do := range kinds {
			start := time.Now()
			for range 20 {
				do()
			}
			took[i] += time.Since(start)
		}
		rounds += 20
	}
	for i, name := range names {
		b.ReportMetric(float64(took[i])/float64(rounds), "ns/"+name)
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "ping/echo")
	b.ReportMetric(float64(took[0])/float64(took[2]), "ping/hop")
}

// bareEcho gives a function that sends a line of a ping's size and has it sent
// back, read by a goroutine of its own if hop is set.
func bareEcho(b *testing.B, hop bool) func() {
	l, err := net.Listen("unix", filepath.Join(home(b), "echo.sock"))
	if err != nil {
		b.Fatal(err)
	}
	var owned sync.WaitGroup
	owned.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}) // no splice
	})
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
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
	line := []byte(`{"id":1,"type":"ping","version":1}` + "\n")
	return func() {
		if _, err := conn.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := read(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPush is the time from a change to a waiting client that has it.
func BenchmarkPush(b *testing.B) { benchmarkFanOut(b, 1) }

func BenchmarkFanOut100(b *testing.B) { benchmarkFanOut(b, 100) }

func benchmarkFanOut(b *testing.B, clients int) {
	s := serve(b, vscodeipc.ServerOptions{Workspace: home(b)})
	var have sync.WaitGroup
	for range clients {
		_, events, err := dial(b, s.Address()).Listen(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for range events {
				have.Done()
			}
		}()
	}
	n := 0
	for b.Loop() {
		n++
		have.Add(clients)
		setState(b, s, numbered(n))
		have.Wait()
	}
}

func BenchmarkProbe500(b *testing.B) {
	home(b)
	for n := range 250 {
		answering(b, name(b, 2*n), answerHello)
		deadSocket(b, name(b, 2*n+1))
	}
	for b.Loop() {
		verdicts, err := vscodeipc.Probe(b.Context(), &vscodeipc.ProbeOptions{DryRun: true})
		if err != nil || len(verdicts) != 500 {
			b.Fatal(len(verdicts), err)
		}
	}
}

// BenchmarkReconnect is dial, hello and a resumed subscription.
func BenchmarkReconnect(b *testing.B) {
	s := serve(b, vscodeipc.ServerOptions{Workspace: home(b)})
	for b.Loop() {
		c, err := vscodeipc.Dial(b.Context(), s.Address(), nil)
		if err != nil {
			b.Fatal(err)
		}
		answer, _, err := c.Listen(b.Context(), &vscodeipc.Resume{Session: s.Session(), Seq: 0})
		if err != nil || !answer.Resumed {
			b.Fatal(answer, err)
		}
		c.Close()
	}
}

// TestMemoryStaysTheSame over 100,000 messages.
func TestMemoryStaysTheSame(t *testing.T) {
	s := vectorWindow(t)
	c := dialRaw(t, s.Address())
	batch := bytes.Repeat([]byte(`{"id":1,"type":"ping","version":1}`+"\n"), 1000)
	exchange := func(batches int) {
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
	exchange(5)
	before := heap()
	exchange(100)
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
