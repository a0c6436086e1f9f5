package chrome

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchBrowser keeps a connection to the browser's DevTools port open. The channel is
// closed when the browser closes its end.
func watchBrowser(t *testing.T, endpoint string) <-chan struct{} {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ends := make(chan struct{})
	go func() {
		defer close(ends)
		_, _ = io.Copy(io.Discard, conn)
	}()
	return ends
}

// awaitRemoval waits for the directory to disappear.
func awaitRemoval(t *testing.T, dir string) {
	t.Helper()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if err := watcher.Add(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	deadline := time.After(time.Minute)
	for {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			t.Fatal(err)
		case <-deadline:
			t.Fatalf("%s stays", dir)
		}
	}
}
