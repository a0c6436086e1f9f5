package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/coder/websocket"
)

// greet works on a page as a client does, and returns what the client sees.
func greet(t *testing.T, endpoint, url string) (title, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	err := chromedp.Do(ctx, chromedp.Navigate(url), chromedp.SetValue("#name", "Ada"), chromedp.Click("button"))
	if err == nil {
		title, err = chromedp.Run(ctx, chromedp.Title())
	}
	if err == nil {
		text, err = chromedp.Run(ctx, chromedp.Evaluate[string]("document.querySelector('label').textContent.trim()"))
	}
	if err != nil {
		t.Fatalf("chromedp at %s: %v", endpoint, err)
	}
	return title, text
}

// shown is the output of a command so far.
type shown struct {
	mu   sync.Mutex // guards the fields that follow
	text bytes.Buffer
	more chan struct{} // closed and replaced when there is more output
}

func newShown() *shown { return &shown{more: make(chan struct{})} }

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.text.Write(b)
}

// await returns when the command has shown all of these.
func (s *shown) await(t *testing.T, wanted ...string) {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		s.mu.Lock()
		text, more := s.text.String(), s.more
		s.mu.Unlock()
		if !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(text, w) }) {
			return
		}
		select {
		case <-more:
		case <-patience:
			t.Fatalf("not all of %q is shown:\n%s", wanted, text)
		}
	}
}

// listening starts a log command and waits until it listens. stop ends the command after
// it has shown the given texts.
func listening(t *testing.T, dir string, args ...string) (stop func(last ...string) string) {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"log"}, args...)...)
	out := newShown()
	cmd.Stdout = out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1024)
	n, err := stderr.Read(first)
	if err != nil || !strings.HasPrefix(string(first[:n]), "Listening") {
		t.Fatalf("log says %q, %v", first[:n], err)
	}
	return func(last ...string) string {
		out.await(t, last...)
		cmd.Process.Signal(os.Interrupt)
		io.Copy(io.Discard, stderr)
		if err := cmd.Wait(); err != nil {
			t.Errorf("log ended with %v", err)
		}
		return out.String()
	}
}

func TestLogAndReplay(t *testing.T) {
	t.Parallel()
	dir, workspace, url := t.TempDir(), t.TempDir(), servePage(t)
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	endRecording := listening(t, dir, "--workspace", workspace, "--record", file)
	endView := listening(t, dir, "--workspace", workspace, "--domain", "Page", "--method", "Runtime.eval*")
	title, text := greet(t, window.first, url)
	shown := endView()
	endRecording()
	window.stop(t)

	if title != "Hello Ada" || text != "Name" {
		t.Fatalf("on the real browser: %q, %q", title, text)
	}
	for _, want := range []string{"→ Page.navigate", url, "⇐ Page.navigate", " ms ", "← Page.loadEventFired", "Runtime.evaluate"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the log does not show %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "Target.") || strings.Contains(shown, "DOM.") {
		t.Errorf("the log shows what was not asked for:\n%s", shown)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the recording is %v, %v", info, err)
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if token, _ := os.ReadFile(glob(t, filepath.Join(dir, "state", "*", "*.token"))); len(token) == 0 || bytes.Contains(recorded, bytes.TrimSpace(token)) {
		t.Error("the token is in the recording")
	}

	// The browser and the page server have ended, and the client notices nothing. The
	// port is free because a closed listener had it.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	replay := start(t, dir, "replay", "--port", port, file)
	if replay.first != "http://127.0.0.1:"+port {
		t.Errorf("replay --port %s is at %s", port, replay.first)
	}
	if out, err := command(t.Context(), t, dir, "replay", "--port", port, file).CombinedOutput(); err == nil || !strings.Contains(string(out), "replay: port "+port+" is taken by another program: choose another with --port") {
		t.Errorf("replay on a port that is taken: %v, %s", err, out)
	}
	for range 2 {
		if again, said := greet(t, replay.first, url); again != title || said != text {
			t.Errorf("the replay gives %q, %q; the browser gave %q, %q", again, said, title, text)
		}
	}
	res, err := http.Get(replay.first + "/json/version")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); !strings.Contains(string(body), strings.TrimPrefix(replay.first, "http://")) {
		t.Errorf("the replay's version leads elsewhere: %s", body)
	}
}

// TestLogIsEndedWhereNobodyReads: the second interruption ends a log even if no program
// reads its output.
func TestLogIsEndedWhereNobodyReads(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	cmd := command(context.Background(), t, dir, "log", "--workspace", workspace, "--full")
	said := newShown()
	cmd.Stderr = said
	unread, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.await(t, "Listening")
	for range 3 { // more than a pipe holds
		evaluateAs(t, window.first, "long/1.0", "'"+strings.Repeat("x", 30_000)+"'")
	}
	if _, err := io.ReadFull(unread, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := time.After(30 * time.Second)
	for {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond): // no event reports the arrival of the first
		case <-patience:
			cmd.Process.Kill()
			t.Fatal("it goes on")
		}
	}
}

// TestLogTellsWhoAnswered: the log marks responses that the endpoint itself sends when
// it refuses a request.
func TestLogTellsWhoAnswered(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	window := start(t, dir, "window", "--headless", "--workspace", workspace, "--access", "view")
	end := listening(t, dir, "--workspace", workspace)
	endLines := listening(t, dir, "--workspace", workspace, "--json")
	c := join(t, window.first, "looker/1.0")
	if _, err := c.call("Browser.getVersion", `{}`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.call("Target.createTarget", openTab); err == nil {
		t.Fatal("a tab was opened in view mode")
	}
	const refusal = "clients may look, but change nothing"
	shown, lines := end(refusal), endLines(refusal)
	for line := range strings.Lines(shown) {
		refused := strings.Contains(line, "⇐ Target.createTarget") && strings.Contains(line, " failed ")
		if strings.Contains(line, "(endpoint)") != refused {
			t.Errorf("not what the endpoint alone answered: %s", line)
		}
	}
	if strings.Count(shown, "(endpoint)") != 1 {
		t.Errorf("the endpoint's refusal is not shown once:\n%s", shown)
	}
	if strings.Count(lines, `"from":"endpoint"`) != 1 {
		t.Errorf("the endpoint's refusal is not one of the lines:\n%s", lines)
	}
}

// TestLogGoesOn: the coordinator that serves the endpoint is killed. The log continues
// with the next coordinator's traffic, and a recording ends. Without a next coordinator,
// both end.
func TestLogGoesOn(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	owner := start(t, dir, "serve", "--workspace", workspace)
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	if owner.first != window.first {
		t.Fatalf("two addresses: %s, %s", owner.first, window.first)
	}
	type logging struct {
		*exec.Cmd
		out, err *shown
	}
	begin := func(args ...string) logging {
		t.Helper()
		l := logging{command(context.Background(), t, dir, append([]string{"log", "--workspace", workspace}, args...)...), newShown(), newShown()}
		l.Stdout, l.Stderr = l.out, l.err
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if l.ProcessState == nil {
				l.Process.Kill()
				l.Wait()
			}
		})
		l.err.await(t, "Listening")
		return l
	}
	kill := func(r *running) {
		t.Helper()
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		r.cmd.Wait()
	}
	ended := func(l logging) {
		t.Helper()
		if l.Wait(); l.ProcessState.ExitCode() != exitFailure || !strings.Contains(l.err.String(), "the coordinator that served the endpoint has ended") {
			t.Errorf("%v: exit code %d: %s", l.Args[1:], l.ProcessState.ExitCode(), l.err)
		}
	}
	look := func(agent string) {
		t.Helper()
		c := join(t, window.first, agent)
		if _, err := c.call("Browser.getVersion", `{}`); err != nil {
			t.Fatal(err)
		}
	}

	file := filepath.Join(dir, "session.jsonl")
	view, full, recording := begin(), begin("--full"), begin("--record", file)
	look("early/1.0")
	view.out.await(t, "early#1", "⇐ Browser.getVersion")
	full.out.await(t, "early#1", "⇐ Browser.getVersion")
	readRecording(t, file).await(t, `"result"`)
	kill(owner)
	const another = "another one serves it now"
	view.err.await(t, another)
	full.err.await(t, another)
	look("late/1.0")
	view.out.await(t, "late#2")
	full.out.await(t, "late#2")
	ended(recording)
	if strings.Count(view.err.String(), another) != 1 {
		t.Errorf("not told once:\n%s", view.err)
	}

	full.Process.Signal(os.Interrupt)
	if err := full.Wait(); err != nil {
		t.Errorf("log ended with %v: %s", err, full.err)
	}
	window.stop(t)
	ended(view)
}

// TestLogViews: a recording shows its traffic, of one client alone, in full, or as the
// recorded lines.
func TestLogViews(t *testing.T) {
	t.Parallel()
	dir, workspace, url := t.TempDir(), t.TempDir(), servePage(t)
	window := start(t, dir, "window", "--headless", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	endRecording := listening(t, dir, "--workspace", workspace, "--record", file)
	endAll := listening(t, dir, "--workspace", workspace)
	endOther := listening(t, dir, "--workspace", workspace, "--client", "other")
	endFull := listening(t, dir, "--workspace", workspace, "--client", "OTHER", "--full")
	endLines := listening(t, dir, "--workspace", workspace, "--json", "--method", "Runtime.evaluate")

	greet(t, window.first, url)
	long := strings.Repeat("long ", 100) + "end"
	evaluateAs(t, window.first, "other/1.0", "'"+long+"'")
	const answered = "⇐ Runtime.evaluate"
	endRecording()
	followed := endAll(`"value":"long`)
	other, full, lines := endOther(answered), endFull(answered), endLines(`"value":"long`)
	window.stop(t)

	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Page.navigate", "Runtime.evaluate"} {
		if !strings.Contains(followed, "→ "+want) || !strings.Contains(string(recorded), want) {
			t.Errorf("%s is not both shown and recorded:\n%s", want, followed)
		}
	}
	if !strings.Contains(other, "other#") || !strings.Contains(other, "→ Runtime.evaluate") || strings.Contains(other, "Page.navigate") {
		t.Errorf("not the client named other alone:\n%s", other)
	}
	if strings.Contains(other, long) || !strings.Contains(other, "… (") || !strings.Contains(other, " bytes)") {
		t.Errorf("a long message is not cut:\n%s", other)
	}
	if strings.Count(full, long) != 2 || strings.Contains(full, "… (") || strings.Contains(full, "Page.navigate") {
		t.Errorf("a long message is not shown in full, command and answer:\n%s", full)
	}
	// The log names a client before its first line.
	var joined struct{ Joined struct{ Name string } }
	if first, _, _ := strings.Cut(lines, "\n"); json.Unmarshal([]byte(first), &joined) != nil || joined.Joined.Name == "" {
		t.Errorf("not told who speaks: %s", first)
	}
	seen := 0
	for line := range strings.Lines(lines) {
		var l struct {
			From    string
			Client  string
			Message struct {
				ID     int
				Method string
				Result any
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Client == "" {
			t.Fatalf("%v: %s", err, line)
		}
		if !strings.Contains(string(recorded), strings.TrimSpace(line)) {
			t.Errorf("not as it is recorded: %s", line)
		}
		if l.From == "client" && l.Message.Method != "Runtime.evaluate" || l.From == "browser" && l.Message.Result == nil {
			t.Errorf("not asked for: %s", line)
		}
		if strings.Contains(line, long) {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%d JSON lines have the long message, want the command and its answer:\n%s", seen, lines)
	}
}

// evaluateAs has a client of that name evaluate code in the endpoint's first page.
func evaluateAs(t *testing.T, endpoint, agent, code string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, firstPage(t, endpoint), &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {agent}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":1,"method":"Runtime.evaluate","params":{"expression":%q}}`, code)); err != nil {
		t.Fatal(err)
	}
	if _, answer, err := c.Read(ctx); err != nil || !strings.Contains(string(answer), strings.Trim(code, "'")) {
		t.Fatalf("%s, %v", answer, err)
	}
}

func glob(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// firstPage is the address of the WebSocket of an endpoint's first page.
func firstPage(t *testing.T, endpoint string) string {
	t.Helper()
	res, err := http.Get(endpoint + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var pages []struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(res.Body).Decode(&pages); err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages[0].URL
}
