package serving

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// TestLaunchedInStep: also where browsers may be launched, a caller that reads the policy
// and then the browser never sees the next browser's policy with the former browser. So a
// decision never counts for another browser.
func TestLaunchedInStep(t *testing.T) {
	const changes = 300
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	folder, err := vscodeipc.Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder},
		Server: vscodeipc.ServerInfo{Name: "stand-in", Kind: "vscode"}})
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close(context.Background())
	windows := registry.Open(t.Context(), registry.Options{})
	defer windows.Close()
	source := windows.Source(folder)
	l := newLauncher(source, &Options{OnDemand: launch.New(&launch.Chrome{}), Access: policy.ModeFull,
		Logger: slog.New(slog.DiscardHandler)})
	defer l.close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		for {
			if ctx.Err() != nil {
				result <- nil
				return
			}
			allowed, _ := l.Access()
			b, _ := l.Browser()
			if len(allowed.Stopped) == 0 || b == nil {
				continue
			}
			mode, _ := strconv.Atoi(allowed.Stopped[0])
			if browser, _ := strconv.Atoi(b.URL[strings.LastIndex(b.URL, "/")+1:]); mode > browser {
				result <- fmt.Errorf("what is allowed in browser %d was seen, and then browser %d", mode, browser)
				return
			}
		}
	}()
	for i := range changes {
		_, changed := source.Browser()
		if err := window.SetState(vscodeipc.State{
			Browser: &vscodeipc.Browser{URL: fmt.Sprintf("ws://127.0.0.1:9/devtools/browser/%d", i), Via: "injected"},
			Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull, Stopped: []string{strconv.Itoa(i)}},
		}); err != nil {
			t.Error(err)
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the window's change %d is not seen", i)
		}
	}
	cancel()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// TestStoppedInOurOwnBrowser: a client that the window's user has stopped does not act in
// the browser that takes the place of the window's, while the window shows it as stopped.
func TestStoppedInOurOwnBrowser(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	folder, err := vscodeipc.Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder},
		Server: vscodeipc.ServerInfo{Name: "stand-in", Kind: "vscode"}})
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close(context.Background())
	windows := registry.Open(t.Context(), registry.Options{})
	defer windows.Close()
	l := newLauncher(windows.Source(folder), &Options{OnDemand: launch.New(&launch.Chrome{}), Access: policy.ModeFull,
		Logger: slog.New(slog.DiscardHandler)})
	defer l.close()
	l.mu.Lock()
	l.browser = &cdpproxy.Browser{Generation: ownGeneration + 1, Name: "private"}
	l.refresh()
	l.mu.Unlock()
	for _, stopped := range [][]string{{"Playwright"}, {}} {
		if err := window.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessView,
			Stopped: stopped}}); err != nil {
			t.Fatal(err)
		}
		for {
			allowed, changed := l.Access()
			if allowed.Mode != policy.ModeFull {
				t.Fatalf("our own browser is in the mode %q", allowed.Mode)
			}
			if allowed.Stops("Playwright") == (len(stopped) > 0) {
				break
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatalf("the window's user has stopped %q, and the launcher %q", stopped, allowed.Stopped)
			}
		}
	}
}

// endingSource opens a browser that this program ends as soon as it runs: no real one ends at that very
// moment.
type endingSource struct {
	launch.Chrome
	end func() error
}

func (s *endingSource) Open(context.Context) (launch.Browser, error) {
	return &endingBrowser{launch.NewConnection(), s.end}, nil
}

type endingBrowser struct {
	launch.Connection
	end func() error
}

func (b *endingBrowser) InProcess() browser.Browser {
	b.Finish(b.end())
	return nil
}

// TestOwnBrowserThatEndsAtOnce: a browser that has ended does not stay the current one.
func TestOwnBrowserThatEndsAtOnce(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	windows := registry.Open(t.Context(), registry.Options{})
	defer windows.Close()
	source := &endingSource{}
	onDemand := launch.New(source)
	source.end = onDemand.End
	l := newLauncher(windows.Source(t.TempDir()), &Options{OnDemand: onDemand, Access: policy.ModeFull,
		Logger: slog.New(slog.DiscardHandler)})
	defer l.close()
	if err := l.launchOwn(); err != nil {
		t.Fatal(err)
	}
	for {
		b, changed := l.Browser()
		if b == nil {
			break
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatal("a browser that has ended is the current one")
		}
	}
}
