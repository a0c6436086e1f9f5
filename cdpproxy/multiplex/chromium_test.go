//go:build unix

package multiplex_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// chromium is a real Chromium that is reached in both ways: by its pipe, through the
// server, and by a debugging port, for comparison.
type chromium struct {
	server *multiplex.Server
	port   string // browser-level WebSocket URL of the port
	cmd    *exec.Cmd
	dir    string         // the profile
	reader sync.WaitGroup // of its standard error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if running != nil {
		running.end()
	}
	os.Exit(code)
}

var running *chromium // that the tests share which do not end it

var shared = sync.OnceValue(func() (err error) {
	running, err = launch()
	return err
})

func sharedBrowser(t testing.TB) *chromium {
	t.Helper()
	if err := shared(); err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	return running
}

// start starts a browser of the test's own.
func start(t testing.TB) *chromium {
	t.Helper()
	b, err := launch()
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	t.Cleanup(b.end)
	return b
}

// launch does not use chrome.Launch, which gives a browser only one of the two ways.
func launch() (*chromium, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	dir, err1 := os.MkdirTemp("", "multiplex-test-")
	commands, out, err2 := os.Pipe()
	in, messages, err3 := os.Pipe()
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return nil, err
	}
	args := []string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync",
		"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup", // hidden pages, half of the cost of a start
		"--remote-debugging-pipe", "--remote-debugging-port=0", "--user-data-dir=" + dir,
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	b := &chromium{cmd: exec.Command(found, append(args, "about:blank")...), dir: dir}
	b.cmd.ExtraFiles = []*os.File{commands, messages}
	stderr, err := b.cmd.StderrPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err == nil {
		b.server, err = multiplex.Serve(multiplex.Pipe(in, out), slog.New(slog.DiscardHandler))
	}
	if err != nil {
		return nil, err
	}
	commands.Close()
	messages.Close()
	port := make(chan string, 1)
	b.reader.Go(func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "DevTools listening on "); ok {
				port <- url
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), cdptest.Timeout)
	defer cancel()
	if err := b.server.Ready(ctx); err != nil {
		return nil, err
	}
	select {
	case b.port = <-port:
		return b, nil
	case <-ctx.Done():
		return nil, errors.New("the browser has no port")
	}
}

func (b *chromium) end() {
	b.server.Close() // which ends the browser
	kill := time.AfterFunc(10*time.Second, func() { b.cmd.Process.Kill() })
	b.reader.Wait()
	b.cmd.Wait()
	kill.Stop()
	os.RemoveAll(b.dir)
}

// ways are the two ways to the browser, by name.
func (b *chromium) ways() map[string]string {
	return map[string]string{"port": b.port, "pipe": b.server.URL()}
}

// httpOf returns the HTTP address of a path next to the browser-level WebSocket's.
func httpOf(url, path string) string {
	base, _, _ := strings.Cut(url, "/devtools/")
	return "http" + strings.TrimPrefix(base, "ws") + path
}

// open creates a page, attaches to it, and returns when it has loaded. A command
// that waits while Chromium replaces the page's first process may never get a
// response.
func open(t testing.TB, c *cdptest.Client, url string) (target, session string) {
	t.Helper()
	var created struct{ TargetID string }
	c.Call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, url), &created)
	session = c.Attach(created.TargetID)
	scheme, _, _ := strings.Cut(url, ":") // Chromium rewrites the rest
	must.Await(t, url+" is loaded", func() bool {
		m := c.Try(session, "Runtime.evaluate", `{"expression":"document.readyState + ' ' + location.href"}`)
		return strings.Contains(m.Text, `"complete `+scheme)
	})
	return created.TargetID, session
}
