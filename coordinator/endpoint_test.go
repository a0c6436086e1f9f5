package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/child"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// A terminal's window allows what its command line permits.
func TestAccessOfTerminal(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{ // nobody can be asked here
		"ask":  "its user has not let this client do more than look",
		"view": "clients may look, but change nothing",
	} {
		w := openWindow(t, t.TempDir(), t.TempDir(), "--access", mode)
		c := join(t, w.first, "test")
		if got := c.must("Target.getTargets", `{}`); !strings.Contains(got, "about:blank") {
			t.Errorf("reading: %s", got)
		}
		if _, err := c.call("Target.createTarget", openTab); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a refusal with %q", mode, err, want)
		}
	}
}

// Clients close the browser only with --allow-close.
func TestAllowClose(t *testing.T) {
	t.Parallel()
	plain := openWindow(t, t.TempDir(), t.TempDir())
	join(t, plain.first, "test").must("Browser.close", `{}`)
	if got := titles(t, plain.first); len(got) == 0 {
		t.Error("the browser was closed by a client")
	}
	allows := openWindow(t, t.TempDir(), t.TempDir(), "--allow-close")
	join(t, allows.first, "test").send("Browser.close", `{}`)
	if err := allows.cmd.Wait(); err != nil || !strings.Contains(allows.stderr.String(), "The browser was closed") {
		t.Errorf("the window ended with %v\n%s", err, allows.stderr)
	}
}

// With --require-token no client connects without the token. Every command prints and
// forwards an address that contains it, whichever coordinator serves the endpoint.
func TestRequireToken(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	w := openWindow(t, dir, shop, "--require-token")
	origin, token, ok := strings.Cut(strings.TrimPrefix(w.first, "http://"), "/")
	if !ok || len(token) != 64 {
		t.Fatalf("it prints %s, without a token", w.first)
	}
	for address, want := range map[string]int{
		"http://" + origin + "/json/version":                              http.StatusForbidden,
		"http://" + origin + "/" + strings.Repeat("0", 64) + "/json/list": http.StatusForbidden,
		w.first + "/json/version":                                         http.StatusOK,
	} {
		if status, _ := get(t, address, nil); status != want {
			t.Errorf("%s: HTTP %d, want %d", address, status, want)
		}
	}
	if _, _, err := websocket.Dial(t.Context(), "ws://"+origin+"/devtools/browser/x", nil); err == nil {
		t.Error("a WebSocket without the token came in")
	}
	if got := titles(t, "ws://"+origin+"/"+token+"/devtools/browser/x"); len(got) != 1 {
		t.Errorf("with the token: pages %q", got)
	}

	if other := start(t, dir, "serve", "--workspace", shop); other.first != w.first {
		t.Errorf("on standby %s is printed, who serves prints %s", other.first, w.first)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{w.first, []string{"endpoint", "--workspace", shop}},
		{"http://" + origin, []string{"endpoint", "--workspace", shop, "--token=false"}},
		{w.first, []string{"run", "--workspace", shop, "--", "sh", "-c", `echo "$` + child.EnvEndpoint + `"`}},
	} {
		if got := output(t, dir, c.args...); got != c.want {
			t.Errorf("%q prints %s, want %s", c.args, got, c.want)
		}
	}
	if got := output(t, dir, "endpoint", "--workspace", shop, "--format", "puppeteer"); !strings.Contains(got, "ws://"+
		origin+"/"+token+"/") {
		t.Errorf("for Puppeteer it prints %s", got)
	}
	var all endpointJSON
	if err := json.Unmarshal([]byte(output(t, dir, "endpoint", "--workspace", shop, "--json")), &all); err != nil ||
		!all.TokenRequired || all.TokenURL != w.first {
		t.Errorf("`endpoint --json`: %+v, %v", all, err)
	}
}

// The complete path of a question: a CDP client requests an action, and the window asks
// its user. The user sees the client and its action, and stops it.
func TestUserDecides(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	decisions := make(chan vscodeipc.AskResult, 10)
	questions := make(chan vscodeipc.AskArg, 10)
	w.Handle(vscodeipc.CommandPermissionAsk, func(c vscodeipc.Call) (any, error) {
		var arg vscodeipc.AskArg
		err := json.Unmarshal(c.Arg, &arg)
		questions <- arg
		return <-decisions, err
	})
	w.Allow(vscodeipc.AccessAsk)
	serve := start(t, toolstest.Dir, "serve", "--workspace", w.Folder)
	decisions <- vscodeipc.AskResult{Decision: "allow"}
	c := join(t, serve.first, "Playwright/1.65.1 (x64)")
	q := <-questions
	if q.Client.Name != "Playwright" || q.Client.Version != "1.65.1" || q.Act != "connect" || q.Detail != "" {
		t.Errorf("the user was asked %+v", q)
	}
	known := toolstest.Called(w, vscodeipc.CommandClientAnnounce,
		func(a vscodeipc.AnnounceArg) bool { return len(a.Clients) == 1 }).Clients[0]
	if known.ID != q.Client.ID || known.Name != "Playwright" || known.Version != "1.65.1" || known.Kind != "cdp" ||
		time.Since(time.UnixMilli(known.Since)) > time.Minute {
		t.Errorf("announced: %+v", known)
	}
	for range 3 {
		c.must("Target.createTarget", openTab)
	}
	reports := 0
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		for _, e := range r.Entries {
			if e.Client != known.ID || e.Act != "Target.createTarget" || !strings.Contains(e.Target, "opened") ||
				e.Outcome == "" {
				t.Errorf("reported: %+v", e)
			}
			reports++
		}
		return reports >= 3
	})
	decisions <- vscodeipc.AskResult{Decision: "refuse", Reason: "human"}
	if status := refusedClient(t, fromAnotherProgram(t, serve.first), "Refused/1"); !strings.HasPrefix(status,
		"403 refused: the user of the window does not let this client connect") {
		t.Errorf("refused: %s", status)
	}
	<-questions
	decisions <- vscodeipc.AskResult{Decision: "view"}
	looks := join(t, fromAnotherProgram(t, serve.first), "Looks/1")
	<-questions
	looks.must("Target.getTargets", `{}`)
	if _, err := looks.call("Target.createTarget", openTab); err == nil || !strings.Contains(err.Error(), `"ask"`) {
		t.Errorf("a client that may only look: %v", err)
	}

	// A stricter mode ends connected clients, and the question about one that waits. They may
	// join again.
	waits := make(chan *client)
	another := fromAnotherProgram(t, serve.first)
	go func() { waits <- join(t, another, "waits/1") }()
	<-questions
	w.Allow(vscodeipc.AccessView)
	for _, ends := range []*client{looks, c} {
		ends.closed(false, websocket.StatusPolicyViolation, "stricter access mode")
	}
	for _, c := range []*client{<-waits, join(t, serve.first, "Playwright/1.65.1 (x64)")} {
		if _, err := c.call("Target.createTarget", openTab); err == nil || !strings.Contains(err.Error(), `"view"`) {
			t.Errorf("in view mode: %v", err)
		}
	}
	c = join(t, serve.first, "Playwright/1.65.1 (x64)")

	w.Allow(vscodeipc.AccessFull, known.Name)
	c.closed(false, websocket.StatusPolicyViolation, "stopped by the user")
	other := join(t, serve.first, "another/1")
	other.must("Target.createTarget", openTab) // it was not stopped
	w.Show("", vscodeipc.AccessFull)
	other.closed(false, websocket.StatusGoingAway, `browser "Chromium" has ended`)
	close(decisions)
}

// A coordinator that is interrupted or terminated sends close code 1001 to each of its
// clients, whatever they are doing. The next coordinator takes over.
func TestEndOfServe(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Evaluate("document.body.append('x'.repeat(5e6))") // more than the connections buffer
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	questions := make(chan vscodeipc.AskArg, 10)
	w.Handle(vscodeipc.CommandPermissionAsk, func(c vscodeipc.Call) (any, error) {
		var arg vscodeipc.AskArg
		if err := json.Unmarshal(c.Arg, &arg); err != nil || arg.Client.Name != "waits" {
			return vscodeipc.AskResult{Decision: "allow"}, err
		}
		questions <- arg
		<-t.Context().Done()
		return nil, nil
	})
	w.Allow(vscodeipc.AccessAsk)
	serves := start(t, toolstest.Dir, "serve", "--workspace", w.Folder)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		next := start(t, toolstest.Dir, "-v", "serve", "--workspace", w.Folder)
		if next.first != serves.first {
			t.Fatalf("one serves %s, the next %s", serves.first, next.first)
		}
		log := startLog(t, toolstest.Dir, w.Folder, "--method", "DOM.getOuterHTML")
		behind := joinPage(t, serves.first, "behind") // it reads when the coordinator is about to end
		behind.must("DOM.getDocument", `{}`)
		behind.send("DOM.getOuterHTML", `{"nodeId":1}`)
		log.end(t, "⇐ DOM.getOuterHTML")
		clients := []*client{behind}
		var closed sync.WaitGroup
		for range 3 {
			idle, busy := join(t, serves.first, "idle"), join(t, serves.first, "busy")
			idle.must("Browser.getVersion", `{}`)
			busy.must("Browser.getVersion", `{}`)
			closed.Go(func() { busy.closed(true, websocket.StatusGoingAway, "shutting down") })
			clients = append(clients, idle)
		}
		address := fromAnotherProgram(t, serves.first)
		closed.Go(func() {
			if status := refusedClient(t, address, "waits"); !strings.HasPrefix(status, "503 ") ||
				!strings.Contains(status, "shutting down") {
				t.Errorf("a client that waits for the user: %s", status)
			}
		})
		<-questions
		for _, c := range clients {
			closed.Go(func() { c.closed(false, websocket.StatusGoingAway, "shutting down") })
		}
		if err := serves.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		closed.Wait()
		if err := serves.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v\n%s", err, serves.stderr)
		}
		next.stderr.await(t, "serving the endpoint")
		if got := titles(t, next.first); len(got) != 1 {
			t.Errorf("the next one shows the pages %q", got)
		}
		serves = next
	}
}

// A client waits as long as --hold specifies, and then gets an error. A browser that
// comes in time serves it. The endpoint is served before there is a window.
func TestHold(t *testing.T) {
	t.Parallel()
	short := start(t, t.TempDir(), "serve", "--hold", "300ms", "--workspace", t.TempDir())
	startTime := time.Now()
	status, body := get(t, short.first+"/json/version", nil)
	if took := time.Since(startTime); status != http.StatusServiceUnavailable || took < 300*time.Millisecond ||
		!strings.Contains(body,
			"no browser that can be driven (waited 300ms for one). Start the debug session of the window on ") {
		t.Errorf("a hold of 300 ms: HTTP %d after %v: %s", status, took, body)
	}
	short.stderr.await(t, "a client waits up to 300ms for a browser. Start the debug session", "--launch")
	// Puppeteer and fetch show the status line alone.
	if res, err := http.Get(short.first + "/json/version"); err != nil ||
		!strings.HasPrefix(res.Status, "503 this window has no browser") {
		t.Errorf("the status line: %+v %v", res, err)
	}
	none := start(t, t.TempDir(), "serve", "--hold", "0", "--workspace", t.TempDir())
	if status, body := get(t, none.first+"/json/version", nil); status != http.StatusServiceUnavailable ||
		strings.Contains(body, "waited") {
		t.Errorf("without a hold: HTTP %d %s", status, body)
	}

	dir, workspace := t.TempDir(), t.TempDir()
	serve := start(t, dir, "serve", "--hold", "50s", "--workspace", workspace)
	early := make(chan error, 1)
	go func() {
		got, err := readTitles(t.Context(), serve.first)
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("it sees the pages %q", got)
		}
		early <- err
	}()
	window := openWindow(t, dir, workspace, "-v")
	if window.first != serve.first {
		t.Errorf("the window has the endpoint %s, not %s", window.first, serve.first)
	}
	if err := <-early; err != nil {
		t.Errorf("a client within the hold: %v", err)
	}
	serve.stop(t)
	window.stderr.await(t, "serving the endpoint") // until then its port refuses connections
	if got := titles(t, serve.first); len(got) != 1 {
		t.Errorf("after the first coordinator's end: pages %q", got)
	}
}

// A page may connect if --allow-origin names its origin. Otherwise only the DevTools
// front end may.
func TestAllowOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := start(t, dir, "serve", "--hold", "0", "--workspace", t.TempDir())
	names := start(t, dir, "serve", "--hold", "0", "--workspace", t.TempDir(),
		"--allow-origin", "https://tool.example", "--allow-origin", "chrome-extension://abcdefghijklmnop")
	const refused, in = http.StatusForbidden, http.StatusServiceUnavailable // there is no browser
	for _, c := range []struct {
		endpoint *running
		origin   string
		status   int
	}{
		{plain, "https://tool.example", refused},
		{plain, "devtools://devtools", in},
		{names, "https://tool.example", in},
		{names, "chrome-extension://abcdefghijklmnop", in},
		{names, "devtools://devtools", in},
		{names, "https://tool.example:8443", refused},
		{names, "null", refused},
	} {
		if status, body := get(t, c.endpoint.first+"/json/version", http.Header{"Origin": {c.origin}}); status != c.status {
			t.Errorf("%s from %s: HTTP %d %s, want %d", c.endpoint.cmd.Args[1:], c.origin, status, body, c.status)
		}
	}
	for _, args := range [][]string{{"--allow-origin", "null"}, {"--allow-origin", "https://tool.example/"},
		{"--allow-origin", "*"}, {"--hold", "-1s"}, {"--hold", "soon"}} {
		cmd := command(t.Context(), t, dir, append([]string{"serve"}, args...)...)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitUsage {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

// A coordinator on standby reports which of its options have no effect yet, and reports
// when it serves. A second window on a folder reports that the folder has one.
func TestStandsBy(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	first := start(t, dir, "serve", "--workspace", workspace)
	second := start(t, dir, "serve", "--workspace", workspace, "--hold", "1s")
	if second.first != first.first {
		t.Errorf("the addresses are %s and %s", first.first, second.first)
	}
	second.stderr.await(t, "Another coordinator already serves this address. This one takes over when that one ends. "+
		"Until then these flags have no effect: --hold.\n")

	window := openWindow(t, dir, workspace, "--allow-close")
	window.stderr.await(t, "Another coordinator already serves the window's address", "no effect: --allow-close.\n",
		"is ready")
	if strings.Contains(window.stderr.String(), "Another window") {
		t.Errorf("a window that is alone prints %q", window.stderr)
	}
	other := openWindow(t, dir, workspace)
	other.stderr.await(t,
		fmt.Sprintf("Another window has this folder already (terminal, process %d)", window.cmd.Process.Pid),
		"a new one must name a window if both have a browser.\n", "is ready")
	other.stop(t)
	window.stop(t)

	runs := func(args ...string) string {
		t.Helper()
		cmd := command(t.Context(), t, dir, append(append([]string{"run", "--workspace", workspace}, args...), "--",
			"true")...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("run %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := runs("--launch", "--hold", "1s"); !strings.Contains(out,
		"The program uses the browser of that one, which may end with it. "+
			"Until then these flags have no effect: --launch, --hold.\n") {
		t.Errorf("run --launch --hold prints %q", out)
	}
	if out := runs("--allow-close"); !strings.Contains(out, "no effect: --allow-close.\n") {
		t.Errorf("run --allow-close prints %q", out)
	}
	// Standby beside an open window is the usual case for run, so it is not reported.
	if out := runs(); out != "" {
		t.Errorf("run prints %q", out)
	}
	first.stop(t)
	second.stderr.await(t, "The other coordinator has ended. This one serves the address now: "+second.first+"\n")
}

// A window learns which coordinator serves its address: the first, and after its end the
// next.
func TestServingIsAnnounced(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	serving := make(chan bool, 100)
	w.Handle(vscodeipc.CommandClientAnnounce, func(c vscodeipc.Call) (any, error) {
		var arg vscodeipc.AnnounceArg
		err := json.Unmarshal(c.Arg, &arg)
		serving <- arg.Serving
		return struct{}{}, err
	})
	expect := func(want bool) {
		t.Helper()
		for {
			select {
			case is := <-serving:
				if is == want {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("no coordinator announces serving %v", want)
			}
		}
	}
	first := start(t, toolstest.Dir, "serve", "--workspace", w.Folder)
	expect(true)
	start(t, toolstest.Dir, "serve", "--workspace", w.Folder)
	expect(false) // it stands by
	first.stop(t)
	expect(true)
}

// Where another program has the port of an address that was served, the command reports
// that the address will change. Then the address does change.
func TestEndpointOfAnotherProgram(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	ask := func() (address, stderr string) {
		t.Helper()
		cmd := command(t.Context(), t, dir, "endpoint", "--workspace", workspace)
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &errors)
		}
		return strings.TrimSpace(string(out)), errors.String()
	}
	first, stderr := ask()
	if !strings.Contains(stderr, "Nothing serves this address now: run `coordinator serve") {
		t.Errorf("with a free port: %q", stderr)
	}
	start(t, dir, "serve", "--workspace", workspace).stop(t)
	u, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	same, stderr := ask()
	if same != first || !strings.Contains(stderr, "Another program listens on port "+u.Port()+
		", so the address will change when a coordinator serves it. Run `coordinator serve") {
		t.Errorf("with another program on the port: %s, %q", same, stderr)
	}
	serving := start(t, dir, "serve", "--workspace", workspace)
	if now, stderr := ask(); now == first || now != serving.first || stderr != "" {
		t.Errorf("served at %s: %s, %q", serving.first, now, stderr)
	}
}

// A printed token is kept with the folder, so that `coordinator doctor --fix` can remove it.
func TestEndpointKeepsFolder(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), must.Get(vscodeipc.Canonical(t.TempDir()))(t)
	output(t, dir, "endpoint", "--workspace", workspace, "--token")
	must.Do(t, os.RemoveAll(workspace))
	cmd := command(t.Context(), t, dir, "doctor")
	if out, _ := cmd.Output(); !strings.Contains(string(out), "a folder that no longer exists are kept: "+workspace) {
		t.Errorf("doctor prints %s", out)
	}
}

// launched requests the browser from an endpoint, from many clients at once, and requires
// that all get the same.
// With --launch the first client starts the window's launch configuration. Where that
// brings no browser, our own browser serves. Either is launched once.
// A client that waits for a browser gets the reason when the launch fails, and stops
// waiting. No request of a page or an address bar starts anything in the window, and
// each gets its response at once. The headers are those that Chromium sends
// (TestPagesHaveNoEffect in cdpproxy).
