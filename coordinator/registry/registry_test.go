package registry

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc"
)

// private gives the test its own directories for sockets.
func private(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
}

func serve(t *testing.T, workspace string, folders ...string) *vscodeipc.Server {
	t.Helper()
	return serveWindow(t, vscodeipc.ServerOptions{Workspace: workspace, Folders: append(folders, workspace),
		Server: vscodeipc.ServerInfo{Kind: "terminal"}})
}

func serveWindow(t *testing.T, o vscodeipc.ServerOptions) *vscodeipc.Server {
	t.Helper()
	o.Server.Name, o.Server.Version = "test", "1"
	s := must.Get(vscodeipc.Serve(t.Context(), o))(t)
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// serveCommands serves a window as an editor's, with commands.
func serveCommands(t *testing.T, folder string, commands map[string]vscodeipc.Handler) *vscodeipc.Server {
	t.Helper()
	return serveWindow(t, vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Kind: "vscode"}, Commands: commands,
	})
}

func set(t *testing.T, s *vscodeipc.Server, state vscodeipc.State) {
	t.Helper()
	must.Do(t, s.SetState(state))
}

// shop returns a folder and a registry, in directories of the test's own.
func shop(t *testing.T) (folder string, r *Registry) {
	t.Helper()
	private(t)
	return filepath.Join(tree(t, "shop"), "shop"), open(t)
}

func open(t *testing.T) *Registry {
	t.Helper()
	r := Open(t.Context(), Options{Client: vscodeipc.Peer{Name: "test"}, Sweep: true})
	t.Cleanup(func() { r.Close() })
	return r
}

// eventually waits for the registry's events until ok.
func eventually(t *testing.T, r *Registry, description string, ok func(Listing) bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		changed := r.Changed()
		if ok(r.listing()) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%s: still %+v", description, r.listing())
		}
	}
}

func browserState(url, session string) vscodeipc.State {
	return vscodeipc.State{Browser: &vscodeipc.Browser{URL: url, Product: "Chrome/1", Via: "injected",
		DebugSession: session}}
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
	// A call finds a window that has only just opened.
	if w, _, err := r.Resolve(t.Context(), Want{Dir: api}); err != nil || w.Workspace != api {
		t.Fatalf("resolve: %+v, %v", w, err)
	}
	set(t, first, browserState("ws://127.0.0.1:1/devtools/browser/a", "s1"))
	eventually(t, r, "its browser comes", func(l Listing) bool {
		return len(l.Windows) == 2 && l.Windows[1].Workspace == shop && l.Windows[1].State.Browser != nil
	})
	must.Do(t, first.Close(t.Context()))
	eventually(t, r, "a window goes", func(l Listing) bool {
		return len(l.Windows) == 1 && l.Windows[0].Workspace == api && len(l.Unreachable) == 0
	})
}

// TestNameTakenByAWindow: an unreachable address is replaced by a window of the same
// name. A call sees that at once, whatever was tried before; so does a caller that only
// waits for changes.
func TestNameTakenByAWindow(t *testing.T) {
	private(t)
	root := tree(t, "shop", "api")
	r := open(t)
	for _, called := range []bool{true, false} {
		folder := filepath.Join(root, map[bool]string{true: "shop", false: "api"}[called])
		path := addressOf(t, folder)
		l := must.Get(net.Listen("unix", path+".new"))(t)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		if err := os.Rename(path+".new", path); err != nil { // accepts every connection from its first moment
			t.Fatal(err)
		}
		dials := make(chan struct{}, 10)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Write([]byte("who are you?\n"))
				conn.Close()
				dials <- struct{}{}
			}
		}()
		eventually(t, r, "it cannot be reached", func(l Listing) bool { return len(l.Unreachable) == 1 })
		if !called {
			<-dials
			<-dials
			<-dials // the next pause is 4 s
		}
		l.Close() // it is dead: a window takes its name
		s := serve(t, folder)
		if string(s.Address()) != path {
			t.Fatalf("the window listens at %s, not at %s", s.Address(), path)
		}
		if called {
			if w, _, err := r.Resolve(t.Context(), Want{Dir: folder}); err != nil || w.Address != s.Address() {
				t.Errorf("Resolve gives %+v, %v", w, err)
			}
			continue
		}
		start := time.Now()
		eventually(t, r, "the window is there", func(l Listing) bool {
			return len(l.Unreachable) == 0 &&
				len(l.Windows) == 2
		})
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it was found after %v, by trying again", took)
		}
	}
}

// addressOf returns the address that a window of the folder takes first.
func addressOf(t *testing.T, folder string) string {
	t.Helper()
	s := serve(t, folder)
	must.Do(t, s.Close(t.Context()))
	return string(s.Address())
}

func TestSourceFollowsTheBrowser(t *testing.T) {
	shop, r := shop(t)
	source := r.Source(shop)
	if r.Source(shop) != source {
		t.Error("a workspace has two sources")
	}
	await := func(description, want string) uint64 {
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
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: the source has %+v", description, browser)
			}
		}
	}
	window := serve(t, shop)
	set(t, window, browserState("ws://127.0.0.1:1/devtools/browser/a", "s1"))
	first := await("a browser comes", "ws://127.0.0.1:1/devtools/browser/a")
	set(t, window, browserState("ws://127.0.0.1:2/devtools/browser/b", "s2"))
	second := await("it restarts", "ws://127.0.0.1:2/devtools/browser/b")
	if second == first {
		t.Error("two browsers have one generation")
	}
	set(t, window, vscodeipc.State{})
	await("its debug session ends", "")
	set(t, window, browserState("ws://127.0.0.1:2/devtools/browser/b", "s3"))
	if third := await("the next one has the same address", "ws://127.0.0.1:2/devtools/browser/b"); third == second {
		t.Error("a debug session's browser is taken for the former's")
	}
	must.Do(t, window.Close(t.Context()))
	await("the window closes", "")

	again := serve(t, shop)
	set(t, again, browserState("ws://127.0.0.1:3/devtools/browser/c", "s1"))
	await("it opens again", "ws://127.0.0.1:3/devtools/browser/c")
	if err := source.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// Of two windows on one folder, the endpoint has the browser of the first while that
// window is open: clients do not move from one to the other.
func TestSourceStays(t *testing.T) {
	shop, r := shop(t)
	source := r.Source(shop)
	open := func(name string) *vscodeipc.Server {
		t.Helper()
		s := serve(t, shop)
		set(t, s, browserState("ws://127.0.0.1:1/devtools/browser/"+name, "s"))
		eventually(t, r, name+" is there", func(l Listing) bool {
			return slices.ContainsFunc(l.Windows, func(w Window) bool {
				return w.Address == s.Address() && w.State.Browser != nil
			})
		})
		return s
	}
	leads := func(condition, name string) {
		t.Helper()
		if b, _ := source.Browser(); b == nil || b.URL != "ws://127.0.0.1:1/devtools/browser/"+name {
			t.Errorf("%s: the endpoint leads to %+v, want %s", condition, b, name)
		}
	}
	first := open("a")
	second := open("b")
	leads("a second window", "a")
	later := Open(t.Context(), Options{Client: vscodeipc.Peer{Name: "another"}})
	defer later.Close()
	eventually(t, later, "both are there", func(l Listing) bool {
		return len(l.Windows) == 2 && l.Windows[0].State.Browser != nil && l.Windows[1].State.Browser != nil
	})
	source = later.Source(shop)
	leads("another coordinator, later", "a")
	source = r.Source(shop)
	must.Do(t, first.Close(t.Context()))
	eventually(t, r, "the first is gone", func(l Listing) bool { return len(l.Windows) == 1 })
	leads("the first has gone", "b")
	open("c") // with the address that is free now
	leads("a third window", "b")
	must.Do(t, second.Close(t.Context()))
	eventually(t, r, "the second is gone", func(l Listing) bool { return len(l.Windows) == 1 })
	leads("the second has gone", "c")
}

// A window of another workspace never feeds this one's endpoint.
func TestSourcesDoNotCross(t *testing.T) {
	private(t)
	root := tree(t, "shop/web")
	shop, web := filepath.Join(root, "shop"), filepath.Join(root, "shop/web")
	r := open(t)
	source := r.Source(shop)
	other := serve(t, web, shop)
	set(t, other, browserState("ws://127.0.0.1:1/devtools/browser/a", "s1"))
	eventually(t, r, "the other window is there", func(l Listing) bool {
		return len(l.Windows) == 1 && l.Windows[0].State.Browser != nil
	})
	if browser, _ := source.Browser(); browser != nil {
		t.Errorf("the endpoint of %s would be answered by %s", shop, browser.URL)
	}
}

// An open registry has deleted the sockets of windows that were killed.
func TestOpenSweeps(t *testing.T) {
	private(t)
	dir := filepath.Join(os.Getenv("XDG_DATA_HOME"), "browser-coordinator-mcp")
	must.Do(t, os.MkdirAll(dir, 0o700))
	dead := filepath.Join(dir, "ipc-0123456789abcdef.sock")
	ln := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"}))(t)
	ln.SetUnlinkOnClose(false)
	ln.Close()
	changes := vscodeipc.WatchDirs(nil)
	defer changes.Close()
	open(t)
	for limit := time.After(30 * time.Second); ; {
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
