//go:build unix

package pipe_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/pipe"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/cdptest"
)

// browser is a real Chromium that is reached in both ways: by its pipe, through the
// server, and by a debugging port, for comparison.
type browser struct {
	server *pipe.Server
	port   string // browser-level WebSocket URL of the port
	cmd    *exec.Cmd
}

// start does not use chrome.Launch, which gives a browser only one of the two ways.
func start(t testing.TB) *browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	commands, out, err1 := os.Pipe()
	in, messages, err2 := os.Pipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	args := []string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--remote-debugging-pipe", "--remote-debugging-port=0", "--user-data-dir=" + t.TempDir(),
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(found.Path, append(args, "about:blank")...)
	cmd.ExtraFiles = []*os.File{commands, messages}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	commands.Close()
	messages.Close()
	server, err := pipe.Serve(in, out, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{server: server, cmd: cmd}
	port := make(chan string, 1)
	var reader sync.WaitGroup
	reader.Go(func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "DevTools listening on "); ok {
				port <- url
			}
		}
	})
	t.Cleanup(func() {
		server.Close() // which ends the browser
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		reader.Wait()
		cmd.Wait()
		ended.Stop()
	})
	ctx, cancel := context.WithTimeout(t.Context(), cdptest.Timeout)
	defer cancel()
	if err := server.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case b.port = <-port:
	case <-ctx.Done():
		t.Fatal("the browser has no port")
	}
	return b
}

// ways are the two ways to the browser, by name.
func (b *browser) ways() map[string]string {
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
	eventually(t, url+" does not load", func() bool {
		m := c.Try(session, "Runtime.evaluate", `{"expression":"document.readyState + ' ' + location.href"}`)
		return strings.Contains(m.Text, `"complete `+scheme)
	})
	return created.TargetID, session
}

// eventually polls for changes in the browser that have no event.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(cdptest.Timeout); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}
