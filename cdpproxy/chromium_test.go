package cdpproxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
)

// chromium is a real browser of the test's own.
type chromium struct {
	url  string // browser-level WebSocket
	cmd  *exec.Cmd
	dir  string
	done chan struct{} // closed when the process has been waited for
}

func chromiumPath() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium or Chrome in PATH; these tests need one (apt-get install chromium)")
}

// launch starts Chromium and reads its address from stderr, where it says it
// once it listens.
func launch() (*chromium, error) {
	path, err := chromiumPath()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cdpproxy-test-")
	if err != nil {
		return nil, err
	}
	c := &chromium{dir: dir, done: make(chan struct{})}
	c.cmd = exec.Command(path,
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--host-resolver-rules=MAP rebound.test 127.0.0.1",
		"--user-data-dir="+dir, "--remote-debugging-port=0", "about:blank")
	c.cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	url := make(chan string, 1)
	go c.watch(stderr, url)
	select {
	case c.url = <-url:
		return c, nil
	case <-c.done:
		os.RemoveAll(dir)
		return nil, fmt.Errorf("chromium ended before it listened")
	case <-time.After(20 * time.Second):
		c.kill()
		return nil, fmt.Errorf("chromium did not listen within 20 s")
	}
}

func (c *chromium) watch(stderr io.Reader, url chan<- string) {
	defer close(c.done)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, u, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
			url <- strings.TrimSpace(u)
		}
	}
	c.cmd.Wait()
}

// kill ends the browser and removes its profile. Its helpers may still be
// writing there for a moment after it is gone.
func (c *chromium) kill() {
	c.cmd.Process.Kill()
	<-c.done
	var err error
	for range 100 {
		if err = os.RemoveAll(c.dir); err == nil {
			return
		}
	}
	log.Printf("profile left behind: %v", err)
}

var shared struct {
	once sync.Once
	c    *chromium
	err  error
}

// sharedChromium is the one browser that tests use which leave it alive.
func sharedChromium(t testing.TB) *chromium {
	t.Helper()
	shared.once.Do(func() { shared.c, shared.err = launch() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.c
}

func newChromium(t testing.TB) *chromium {
	t.Helper()
	c, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

func TestMain(m *testing.M) {
	if child := os.Getenv("CDPPROXY_TEST_CHILD"); child != "" {
		connectAsChild(child)
		return
	}
	code := m.Run()
	if shared.c != nil {
		shared.c.kill()
	}
	os.Exit(code)
}

// source is a Source that a test sets.
type source struct {
	mu      sync.Mutex
	browser *cdpproxy.Browser
	changed chan struct{}
	count   uint64
	asks    int
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
	s.asks++
	return s.browser, s.changed
}

// asked returns how often the source was asked.
func (s *source) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks
}

// set names a new browser; an empty url means none.
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

// serve runs a proxy on a port of its own and returns its host:port.
func serve(t testing.TB, src cdpproxy.Source, opts *cdpproxy.Options) (*cdpproxy.Proxy, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := cdpproxy.New(src, opts)
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
