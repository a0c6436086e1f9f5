package registry

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// private gives the test directories of its own for sockets.
func private(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
}

func serve(t *testing.T, workspace string, folders ...string) *vscodeipc.Server {
	t.Helper()
	s, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: workspace, Folders: append(folders, workspace), Kind: "terminal", Name: "test", Version: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func open(t *testing.T) *Registry {
	t.Helper()
	r, err := Open(t.Context(), Options{Client: vscodeipc.Peer{Name: "test"}, Sweep: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// eventually waits for the registry's events until ok.
func eventually(t *testing.T, r *Registry, what string, ok func(Listing) bool) {
	t.Helper()
	limit := time.After(5 * time.Second)
	for {
		changed := r.Changed()
		if ok(r.listing()) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%s: still %+v", what, r.listing())
		}
	}
}

func browserState(url, session string) vscodeipc.State {
	return vscodeipc.State{Browser: &vscodeipc.Browser{URL: url, Product: "Chrome/1", Via: "injected", DebugSession: session}}
}

func TestWindowsComeAndGo(t *testing.T) {
	private(t)
	root := tree(t, "shop", "api")
	shop, api := filepath.Join(root, "shop"), filepath.Join(root, "api")
	r := open(t)
	if l, err := r.List(t.Context()); err != nil || len(l.Windows) != 0 {
		t.Fatalf("at first: %+v, %v", l, err)
	}
	first := serve(t, shop)
	eventually(t, r, "a window comes, unasked", func(l Listing) bool { return len(l.Windows) == 1 })
	serve(t, api)
	// A call sees a window that has only just come.
	if w, _, err := r.Resolve(t.Context(), Want{Dir: api}); err != nil || w.Workspace != api {
		t.Fatalf("resolve: %+v, %v", w, err)
	}
	if err := first.SetState(browserState("ws://127.0.0.1:1/devtools/browser/a", "s1")); err != nil {
		t.Fatal(err)
	}
	eventually(t, r, "its browser comes", func(l Listing) bool {
		return len(l.Windows) == 2 && l.Windows[1].Workspace == shop && l.Windows[1].State.Browser != nil
	})
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, r, "a window goes", func(l Listing) bool {
		return len(l.Windows) == 1 && l.Windows[0].Workspace == api && len(l.Unreachable) == 0
	})
}

func TestSourceFollowsTheBrowser(t *testing.T) {
	private(t)
	shop := filepath.Join(tree(t, "shop"), "shop")
	r := open(t)
	source := r.Source(shop)
	if r.Source(shop) != source {
		t.Error("a workspace has two sources")
	}
	await := func(what, want string) uint64 {
		t.Helper()
		for {
			browser, changed := source.Browser()
			if browser == nil && want == "" {
				return 0
			}
			if browser != nil && browser.URL == want {
				return browser.Generation
			}
			select {
			case <-changed:
			case <-time.After(5 * time.Second):
				t.Fatalf("%s: the source has %+v", what, browser)
			}
		}
	}
	set := func(s *vscodeipc.Server, state vscodeipc.State) {
		t.Helper()
		if err := s.SetState(state); err != nil {
			t.Fatal(err)
		}
	}

	window := serve(t, shop)
	set(window, browserState("ws://127.0.0.1:1/devtools/browser/a", "s1"))
	first := await("a browser comes", "ws://127.0.0.1:1/devtools/browser/a")
	set(window, browserState("ws://127.0.0.1:2/devtools/browser/b", "s2"))
	second := await("it restarts", "ws://127.0.0.1:2/devtools/browser/b")
	if second == first {
		t.Error("two browsers have one generation")
	}
	set(window, vscodeipc.State{})
	await("its debug session ends", "")
	set(window, browserState("ws://127.0.0.1:2/devtools/browser/b", "s3"))
	if third := await("the next one has the same address", "ws://127.0.0.1:2/devtools/browser/b"); third == second {
		t.Error("a debug session's browser is taken for the former's")
	}
	if err := window.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	await("the window closes", "")

	again := serve(t, shop)
	set(again, browserState("ws://127.0.0.1:3/devtools/browser/c", "s1"))
	await("it opens again", "ws://127.0.0.1:3/devtools/browser/c")
	if err := source.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// A window of another workspace never feeds this one's endpoint.
func TestSourcesDoNotCross(t *testing.T) {
	private(t)
	root := tree(t, "shop/web")
	shop, web := filepath.Join(root, "shop"), filepath.Join(root, "shop/web")
	r := open(t)
	source := r.Source(shop)
	other := serve(t, web, shop)
	if err := other.SetState(browserState("ws://127.0.0.1:1/devtools/browser/a", "s1")); err != nil {
		t.Fatal(err)
	}
	eventually(t, r, "the other window is there", func(l Listing) bool {
		return len(l.Windows) == 1 && l.Windows[0].State.Browser != nil
	})
	if browser, _ := source.Browser(); browser != nil {
		t.Errorf("the endpoint of %s would be answered by %s", shop, browser.URL)
	}
}

// An open registry has swept the sockets of windows that died without a goodbye.
func TestOpenSweeps(t *testing.T) {
	private(t)
	dir, err := vscodeipc.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, "ipc-0123456789abcdef.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	changes, err := vscodeipc.WatchDirs(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Close()
	open(t)
	for limit := time.After(5 * time.Second); ; {
		if _, err := os.Lstat(dead); err != nil {
			return
		}
		select {
		case <-changes.Changes():
		case <-limit:
			t.Fatal("the dead socket is still there")
		}
	}
}
