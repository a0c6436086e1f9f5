package cdpproxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
)

// besides are an endpoint, one without a rule, and [httputil.ReverseProxy], in front
// of the same browser, each in a process of its own. The benchmarks alternate
// between them, so that all are measured under the same load.
func besides(b *testing.B, browser *fakeBrowser) map[string]string {
	addrs := map[string]string{}
	for _, name := range []string{"endpoint", "no-rule", "ReverseProxy"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CDPPROXY_TEST_CHILD="+benched+name+" "+browser.url())
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			in.Close()
			cmd.Wait()
		})
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		addrs[name] = strings.TrimSpace(line)
	}
	return addrs
}

const benched = "benched "

// benchedAsChild serves until its input ends.
func benchedAsChild(what string) {
	name, browser, _ := strings.Cut(what, " ")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ln.Addr())
	if name == "ReverseProxy" {
		target, _ := url.Parse(browser)
		target.Scheme, target.Path = "http", ""
		go http.Serve(ln, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.Path = "/devtools/page/1"
		}})
	} else {
		opts := &cdpproxy.Options{}
		if name == "endpoint" {
			opts.Rule = passAll{}
		}
		go cdpproxy.New(newSource(browser), opts).Serve(ln)
	}
	io.Copy(io.Discard, os.Stdin)
}

// compare reports the median of one exchange by each way, and its ratio to that of
// ReverseProxy. rest is the client's pause before each.
func compare(b *testing.B, browser *fakeBrowser, rest time.Duration, exchange func(net.Conn, *bufio.Reader) error) {
	type way struct {
		conn net.Conn
		in   *bufio.Reader
		took []time.Duration
	}
	all := map[string]*way{}
	for name, addr := range besides(b, browser) {
		conn, in, res := rawUpgrade(b, addr, "", "")
		if res.StatusCode != 101 {
			b.Fatalf("%s: HTTP %d", name, res.StatusCode)
		}
		all[name] = &way{conn: conn, in: in}
	}
	for b.Loop() {
		for name, w := range all {
			time.Sleep(rest)
			start := time.Now()
			if err := exchange(w.conn, w.in); err != nil {
				b.Fatal(name, err)
			}
			w.took = append(w.took, time.Since(start))
		}
	}
	p50 := func(name string) float64 {
		took := slices.Sorted(slices.Values(all[name].took))
		return float64(took[len(took)/2].Microseconds())
	}
	b.ReportMetric(p50("ReverseProxy"), "p50-µs-ReverseProxy")
	for _, name := range []string{"endpoint", "no-rule"} {
		b.ReportMetric(p50(name), "p50-µs-"+name)
		b.ReportMetric(p50(name)/p50("ReverseProxy"), "x-"+name)
	}
	b.ReportMetric(0, "ns/op") // of no meaning
}

func benchedEcho(conn net.Conn, in *bufio.Reader) error {
	if _, err := io.WriteString(conn, masked(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)); err != nil {
		return err
	}
	_, err := in.Discard(2 + len(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`))
	return err
}

// BenchmarkEcho is a round trip in a conversation.
func BenchmarkEcho(b *testing.B) {
	compare(b, startFake(b, "127.0.0.1:0", "echo", echo), 0, benchedEcho)
}

// BenchmarkAfterRest is the first round trip of a client that has been silent, as
// most are of people and agents.
func BenchmarkAfterRest(b *testing.B) {
	compare(b, startFake(b, "127.0.0.1:0", "echo", echo), 50*time.Millisecond, benchedEcho)
}

// BenchmarkLargeReply is a response of 50 MB.
func BenchmarkLargeReply(b *testing.B) {
	const size = 50 << 20
	reply := frame(size, 'x')
	fake := startFake(b, "127.0.0.1:0", "large", func(conn net.Conn) {
		request := make([]byte, len(masked(getVersion)))
		for {
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			if _, err := conn.Write(reply); err != nil {
				return
			}
		}
	})
	compare(b, fake, 0, func(conn net.Conn, in *bufio.Reader) error {
		if _, err := io.WriteString(conn, masked(getVersion)); err != nil {
			return err
		}
		_, err := io.CopyN(io.Discard, in, size+10)
		return err
	})
}

// BenchmarkFlood is 20,000 events of 1,000 bytes.
func BenchmarkFlood(b *testing.B) {
	const events = 20_000
	event := make([]byte, 1004)
	copy(event, []byte{0x81, 126, 1000 >> 8, 1000 & 0xff})
	fake := startFake(b, "127.0.0.1:0", "flood", func(conn net.Conn) {
		request := make([]byte, len(masked(getVersion)))
		for {
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			out := bufio.NewWriterSize(conn, 16<<10)
			for range events {
				if _, err := out.Write(event); err != nil {
					return
				}
			}
			out.Flush()
		}
	})
	compare(b, fake, 0, func(conn net.Conn, in *bufio.Reader) error {
		if _, err := io.WriteString(conn, masked(getVersion)); err != nil {
			return err
		}
		_, err := io.CopyN(io.Discard, in, events*1004)
		return err
	})
}

// BenchmarkUpload is a command of 8 MB.
func BenchmarkUpload(b *testing.B) {
	const size = 8 << 20
	message := largeCommand("A.large", size)
	fake := startFake(b, "127.0.0.1:0", "upload", func(conn net.Conn) {
		for {
			if _, err := io.CopyN(io.Discard, conn, int64(len(message))); err != nil {
				return
			}
			io.WriteString(conn, "\x81\x02{}")
		}
	})
	compare(b, fake, 0, func(conn net.Conn, in *bufio.Reader) error {
		if _, err := conn.Write(message); err != nil {
			return err
		}
		_, err := in.Discard(4)
		return err
	})
}
