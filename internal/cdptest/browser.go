package cdptest

import (
	"context"
	"sync"
	"testing"

	"browser-coordinator/coordinator/chrome"
)

func launch() (*chrome.Browser, error) {
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil, err
	}
	return chrome.Launch(context.Background(), chrome.Options{
		Executable: found.Path, Headless: true, DebuggingPort: new(0), Args: []string{"--disable-gpu"},
	})
}

// NewBrowserURL returns the browser-level WebSocket URL of a browser of the test's own.
// It has a debugging port.
func NewBrowserURL(t testing.TB) string {
	t.Helper()
	b, err := launch()
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	return b.URL()
}

var running *chrome.Browser // that the tests of a package share, if one has needed it

var shared = sync.OnceValue(func() (err error) {
	running, err = launch()
	return err
})

// BrowserURL is that of the browser that the tests of a package share. Main ends it.
func BrowserURL(t testing.TB) string {
	t.Helper()
	if err := shared(); err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	return running.URL()
}

// Main runs the tests of a package, and returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if running != nil {
		running.Close(context.Background())
	}
	return code
}
