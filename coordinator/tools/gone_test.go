package tools_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// An agent gets no other browser before it knows that its own has gone: its window has closed,
// or the browser that was launched has ended.
func TestBrowserThatHasGone(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	agent, onDemand := alone(t, "")
	toolstest.Sit(t, browser.URL()).Browse(site)
	w := toolstest.OpenWindowAt(t, agent.Dir, browser.URL())
	agent.Await("Chromium;")
	agent.Expect("browser_snapshot", nil, "URL: "+site)
	w.Close(t.Context())
	must.Await(t, "the end of the window", func() bool {
		return !strings.Contains(agent.Must("window_list", nil), "* ")
	})
	agent.Refused("browser_type", args{"target": "#name", "text": "x"},
		"the window "+w.Folder+" in which you worked has closed, with its pages, tabs and logins, so nothing was done")
	agent.Expect("browser_navigate", args{"url": site}, "so this is the agent's own browser", "Sample")
	if err := onDemand.End(); err != nil { // as if it had crashed
		t.Fatal(err)
	}
	agent.Refused("browser_snapshot", nil,
		"the browser of your own in which you worked has ended, with its pages, tabs and logins")
	agent.Expect("browser_snapshot", nil, "URL: about:blank")
}

// A call stays in the browser in which it began, although a window opens meanwhile, and another call resolves its
// browser. The agent acts there, so it stays.
func TestWindowOpensDuringACall(t *testing.T) {
	t.Parallel()
	requested, opened := make(chan struct{}), make(chan struct{})
	site := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			close(requested)
			<-opened
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>Mine</title>")
	})
	agent, _ := alone(t, "")
	called := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_tabs", args{"action": "new", "url": site})
		called <- err
	}()
	<-requested
	w := toolstest.OpenWindowAt(t, agent.Dir, toolstest.Browser(t).URL())
	toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(arg vscodeipc.AnnounceArg) bool {
		return len(arg.Clients) == 1
	})
	agent.Expect("browser_tabs", args{"action": "list"}, "You stay in the browser of your own")
	close(opened)
	if err := <-called; err != nil {
		t.Fatal(err)
	}
	agent.Expect("browser_evaluate", args{"function": "() => document.title"}, `"Mine"`)
}

// The same for the browser of another program: its address has another browser now.
func TestAttachedBrowserThatWasReplaced(t *testing.T) {
	t.Parallel()
	site := toolstest.ServeSample(t)
	var present atomic.Pointer[url.URL]
	first, second := toolstest.OwnBrowser(t, ""), toolstest.Browser(t)
	use := func(address string) {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		token, _, _ := strings.Cut(strings.TrimPrefix(at.Path, "/"), "/")
		present.Store(&url.URL{Scheme: "http", Host: at.Host, Path: "/" + token})
	}
	use(first.URL())
	address := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		httputil.NewSingleHostReverseProxy(present.Load()).ServeHTTP(w, r)
	})
	agent := toolstest.Start(t, options{
		Dir: toolstest.Folder(t, "shop"), Launcher: pagetest.Attached(t, address), Attached: true,
	})
	agent.Open(site)
	use(second.URL())
	first.Close(t.Context())
	agent.Refused("browser_click", args{"target": "button"}, "the one in which you worked has ended")
	agent.Must("browser_snapshot", nil)
}

// A connection that ends while the browser lives on is no end of the browser, nor of a debug session.
func TestConnectionThatEndsAlone(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeHTML(t, "<title>Waits</title>"), toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(site)
	address, cut := serveRelay(t, browser.URL())
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), address).Agent()
	go func() {
		toolstest.Sit(t, browser.URL()).Await("window.waits")
		cut <- func(client *websocket.Conn) {
			client.Close(websocket.StatusPolicyViolation, "this client reads too slowly")
		}
	}()
	agent.Refused("browser_evaluate", args{"function": "() => { waits = true; return new Promise(() => {}) }"},
		"the connection to the browser has ended: this client reads too slowly during the call: the browser runs on")
	agent.Expect("browser_snapshot", nil, "URL: "+site)
}

// serveRelay relays connections to a browser, one of which cut ends.
func serveRelay(t *testing.T, browser string) (address string, cut chan<- func(*websocket.Conn)) {
	t.Helper()
	ending := make(chan func(*websocket.Conn))
	served := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer client.CloseNow()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		real, err := cdp.Resolve(ctx, nil, browser)
		if err != nil {
			t.Error(err)
			return
		}
		upstream, _, err := websocket.Dial(ctx, real, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer upstream.CloseNow()
		for _, side := range []*websocket.Conn{client, upstream} {
			side.SetReadLimit(-1)
		}
		go relay(ctx, client, upstream)
		go relay(ctx, upstream, client)
		select {
		case end := <-ending:
			end(client)
		case <-ctx.Done():
		}
	})
	return "ws" + strings.TrimPrefix(served, "http") + "/browser", ending
}

// personal is a browser as its user's own: a program holds the connection to it.
type personal struct{ launch.Source }

func (personal) Kind() launch.Kind { return launch.Personal }

// Where the program ends that holds the connection to the user's own browser, nothing says that the browser did.
func TestProgramWithTheConnectionEnds(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeHTML(t, "<title>Waits</title>"), toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(site)
	address, cut := serveRelay(t, browser.URL())
	source := must.Get((&provider.Choice{Attach: address}).Source(slog.New(slog.DiscardHandler)))(t)
	agent := toolstest.Start(t, options{
		Dir: toolstest.Folder(t, "shop"), Launcher: launch.New(personal{source}), Attached: true,
	})
	go func() {
		toolstest.Sit(t, browser.URL()).Await("window.waits")
		cut <- func(client *websocket.Conn) { client.CloseNow() } // as when it is killed
	}()
	agent.Refused("browser_evaluate", args{"function": "() => { waits = true; return new Promise(() => {}) }"},
		"the connection to the user's own Chrome has ended", "ends neither Chrome nor its tabs", "The next call")
}

// relay sends one side's messages to the other.
func relay(ctx context.Context, from, to *websocket.Conn) {
	for {
		kind, message, err := from.Read(ctx)
		if err == nil {
			err = to.Write(ctx, kind, message)
		}
		if err != nil {
			return
		}
	}
}

// Where the user has named a provider, an error is about that, not about windows.
func TestProviderThatIsDown(t *testing.T) {
	t.Parallel()
	const grid = "http://127.0.0.1:9"
	source, err := (&provider.Choice{Grid: grid}).Source(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	agent := toolstest.Start(t, options{Dir: toolstest.Folder(t, "shop"), Launcher: launch.New(source)})
	_, err = agent.Call("browser_snapshot", nil)
	if err == nil || strings.Contains(err.Error(), "window") || !strings.Contains(err.Error(), "127.0.0.1:9") {
		t.Errorf("%v", err)
	}
}

// Of two windows on a folder, such as one of a crashed editor, the agent gets the one with the
// browser, stays there, and is told once. The list tells the two apart.
func TestTwoWindowsOnAFolder(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(site)
	folder := toolstest.Folder(t, "shop")
	toolstest.OpenWindowAt(t, folder, "")
	w := toolstest.OpenWindowAt(t, folder, browser.URL())
	agent := w.Agent()
	agent.Await("Chromium;")
	const notice = "Several windows are open on "
	agent.Expect("browser_snapshot", nil, "URL: "+site, notice+folder)
	agent.Expect("window_list", nil, "* "+folder+" at ", "- "+folder+" at ", "(pid ", "no browser")
	toolstest.OpenWindowAt(t, folder, toolstest.Browser(t).URL())
	listed := func(windows int) {
		t.Helper()
		must.Await(t, "the windows in the list", func() bool {
			return strings.Count(agent.Must("window_list", nil), "(pid ") == windows
		})
	}
	listed(3)
	if text := agent.Expect("browser_snapshot", nil, "URL: "+site); strings.Contains(text, notice) {
		t.Errorf("told twice: %s", text)
	}
	agent.Must("browser_click", clickGreet)
	w.Close(t.Context())
	listed(2)
	agent.Refused("browser_snapshot", nil, "in which you worked has closed")
	agent.Must("browser_snapshot", nil)
}

// In the second window on a folder its own user decides, whatever the first one's allows.
func TestTwinDecidesForItself(t *testing.T) {
	t.Parallel()
	site, folder := toolstest.ServeSample(t), toolstest.Folder(t, "shop")
	first := toolstest.OpenWindowAt(t, folder, toolstest.Browser(t).URL())
	agent := first.Agent()
	agent.Await("Chromium;")
	second := toolstest.OpenWindowAt(t, folder, toolstest.Browser(t).URL())
	there := args{"url": site, "window": string(second.Address())}
	for mode, refusal := range map[vscodeipc.AccessMode]string{
		vscodeipc.AccessView: `"view"`, vscodeipc.AccessAsk: `"ask"`,
	} {
		second.Allow(mode)
		must.Await(t, "a refusal in the mode "+string(mode), func() bool {
			_, err := agent.Call("browser_navigate", there)
			return err != nil && strings.Contains(err.Error(), refusal)
		})
	}
	agent.Must("browser_navigate", args{"url": site, "window": string(first.Address())}) // which allows it
	first.Allow(vscodeipc.AccessView)
	second.Allow(vscodeipc.AccessFull)
	must.Await(t, "the mode full", func() bool {
		_, err := agent.Call("browser_navigate", there)
		return err == nil
	})
}
