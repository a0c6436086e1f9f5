package cdpproxy_test

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

func TestMain(m *testing.M) {
	if child := os.Getenv("CDPPROXY_TEST_CHILD"); child != "" {
		connectAsChild(child)
		return
	}
	cdpproxy.KnowNoPrograms()
	os.Exit(cdptest.Main(m))
}

// source is a Source that a test sets.
type source struct {
	mu      sync.Mutex
	browser *cdpproxy.Browser
	changed chan struct{}
	count   uint64
	asked   counter
}

func newSource(url string) *source {
	s := &source{changed: make(chan struct{})}
	if url != "" {
		s.set("first", url)
	}
	return s
}

func (s *source) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked.add()
	return s.browser, s.changed
}

// set sets a new browser; an empty url means none.
func (s *source) set(name, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.browser = nil
	if url != "" {
		s.browser = &cdpproxy.Browser{Generation: s.count, Name: name, URL: url}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// serve runs a proxy on a port of its own and returns its host:port. Without a rule all
// messages pass.
func serve(t testing.TB, src cdpproxy.Source, opts *cdpproxy.Options) (*cdpproxy.Proxy, string) {
	t.Helper()
	return serveLimited(t, src, opts, cdpproxy.Limits{})
}

func serveLimited(t testing.TB, src cdpproxy.Source, opts *cdpproxy.Options, limits cdpproxy.Limits) (*cdpproxy.Proxy,
	string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var o cdpproxy.Options
	if opts != nil {
		o = *opts
	}
	if o.Rule == nil {
		o.Rule = passAll{}
	}
	p := cdpproxy.New(src, &o)
	p.SetLimits(limits)
	served := make(chan error, 1)
	go func() { served <- p.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return p, ln.Addr().String()
}
