package cdptest

import (
	"context"
	"os"
	"sync"
	"testing"

	"browser-coordinator/coordinator/chrome"
)

func launch(extra ...string) (*chrome.Browser, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil, err
	}
	return chrome.Launch(context.Background(), chrome.Options{
		Executable: found, Headless: true, DebuggingPort: new(0),
		Args: append([]string{"--disable-gpu", "--host-resolver-rules=MAP rebound.test 127.0.0.1"}, extra...),
	})
}

// Launch launches a browser of the test's own, with a debugging port.
func Launch(t testing.TB, extra ...string) *chrome.Browser {
	t.Helper()
	b, err := launch(extra...)
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

// Kill ends a browser like a crash, without notice to its clients.
func Kill(b *chrome.Browser) {
	if p, err := os.FindProcess(b.PID()); err == nil {
		p.Kill()
	}
	<-b.Done()
}

var running *chrome.Browser // that the tests of a package share, if one has needed it

var shared = sync.OnceValue(func() (err error) {
	running, err = launch()
	return err
})

// Shared is the browser that the tests of a package share. Main ends it.
func Shared(t testing.TB) *chrome.Browser {
	t.Helper()
	if err := shared(); err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	return running
}

// BrowserURL is the browser-level WebSocket URL of the shared browser.
func BrowserURL(t testing.TB) string { return Shared(t).URL() }

// Main runs the tests of a package, and returns the exit code. The locks of pages are in a folder of
// theirs.
func Main(m *testing.M) int {
	state, err := os.MkdirTemp("", "cdptest-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", state)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if running != nil {
		running.Close(context.Background())
	}
	_ = os.RemoveAll(state)
	return code
}
