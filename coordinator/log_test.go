package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"browser-coordinator/internal/toolstest"
)

// greet works on a page as a client does, and returns what the client sees.
func greet(t *testing.T, endpoint, url string) (title, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

// evaluateAs has a client of that name evaluate a string in the endpoint's first page.
func evaluateAs(t *testing.T, endpoint, name, text string) {
	t.Helper()
	c := joinPage(t, endpoint, name)
	defer c.CloseNow()
	if result := c.must("Runtime.evaluate", fmt.Sprintf(`{"expression":"'%s'"}`, text)); !strings.Contains(result, text) {
		t.Fatalf("%s", result)
	}
}

// logging is a log command that listens.
type logging struct {
	*exec.Cmd
	out, err *printed
}

// startLog starts a log command of a workspace, and waits until it listens.
func startLog(t *testing.T, dir, workspace string, args ...string) logging {
	t.Helper()
	l := logging{command(context.Background(), t, dir, append([]string{"log", "--workspace", workspace}, args...)...), new(printed), new(printed)}
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

// end interrupts the log after it has shown the given texts, and returns what it showed.
func (l logging) end(t *testing.T, last ...string) string {
	t.Helper()
	l.out.await(t, last...)
	l.Process.Signal(os.Interrupt)
	if err := l.Wait(); err != nil {
		t.Errorf("log ended with %v: %s", err, l.err)
	}
	return l.out.String()
}

// fails waits for the log's end, which must be a failure for that reason.
func (l logging) fails(t *testing.T, reason string) {
	t.Helper()
	if l.Wait(); l.ProcessState.ExitCode() != exitFailure || !strings.Contains(l.err.String(), reason) {
		t.Errorf("%v: exit code %d: %s", l.Args[1:], l.ProcessState.ExitCode(), l.err)
	}
}

// awaitRecord returns when this text is in the recording.
func awaitRecord(t *testing.T, file, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // no event reports that a file has grown
		recorded, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(recorded), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not recorded: %s, %v", text, recorded, err)
		}
	}
}

// A recording can begin before there is a browser, and is complete. It is replayed
// without the browser and the page's server: the client notices nothing.
func TestLogAndReplay(t *testing.T) {
	t.Parallel()
	dir, workspace, url := t.TempDir(), t.TempDir(), toolstest.ServeSample(t)
	served := start(t, dir, "serve", "--workspace", workspace)
	empty, file := filepath.Join(dir, "empty.jsonl"), filepath.Join(dir, "session.jsonl")
	startLog(t, dir, workspace, "--record", empty).end(t)
	if _, err := os.Stat(empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recording of nothing: %v", err)
	}
	recording := startLog(t, dir, workspace, "--record", file)
	view := startLog(t, dir, workspace, "--domain", "Page", "--method", "Runtime.eval*")
	window := openWindow(t, dir, workspace)
	title, text := greet(t, served.first, url)
	shown := view.end(t)
	recording.end(t)
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
	tokens, err := filepath.Glob(filepath.Join(dir, "state", "*", "*.token"))
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens %q, %v", tokens, err)
	}
	if token, _ := os.ReadFile(tokens[0]); len(token) == 0 || bytes.Contains(recorded, bytes.TrimSpace(token)) {
		t.Error("the token is in the recording")
	}
	// A recording does not overwrite an existing file.
	out, err := command(t.Context(), t, dir, "log", "--workspace", workspace, "--record", file).CombinedOutput()
	if now, _ := os.ReadFile(file); err == nil || !strings.Contains(string(out), file+" is there already") || !bytes.Equal(now, recorded) {
		t.Errorf("log --record of a file that is there: %v, %s", err, out)
	}

	// The port is free because a closed listener had it.
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
		if again, seen := greet(t, replay.first, url); again != title || seen != text {
			t.Errorf("the replay gives %q, %q; the browser gave %q, %q", again, seen, title, text)
		}
	}
	if _, body := get(t, replay.first+"/json/version", nil); !strings.Contains(body, strings.TrimPrefix(replay.first, "http://")) {
		t.Errorf("the replay's version leads elsewhere: %s", body)
	}
}

// A log shows the traffic of all clients or of one alone, in short or in full, or the
// lines as they are recorded. It marks responses that the endpoint itself sends when it
// refuses a request.
func TestLogViews(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace, "--access", "view")
	file := filepath.Join(dir, "session.jsonl")
	recording := startLog(t, dir, workspace, "--record", file)
	other := startLog(t, dir, workspace, "--client", "other")
	full := startLog(t, dir, workspace, "--client", "OTHER", "--full")
	jsonLines := startLog(t, dir, workspace, "--json", "--method", "Target.*")

	first := join(t, window.first, "first/1.0")
	first.must("Browser.getVersion", `{}`)
	if _, err := first.call("Target.createTarget", openTab); err == nil {
		t.Fatal("a tab was opened in view mode")
	}
	long := strings.Repeat("long ", 100) + "end"
	second := join(t, window.first, "other/1.0")
	if _, err := second.call("Target.createTarget", fmt.Sprintf(`{"url":"data:,%s"}`, long)); err == nil {
		t.Fatal("a tab was opened in view mode")
	}
	const response = "⇐ Target.createTarget"
	shown, whole, lines := other.end(t, response), full.end(t, response), jsonLines.end(t, `"from":"endpoint","message":{"id":1,`)
	recording.end(t)
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown, "other#") || !strings.Contains(shown, "→ Target.createTarget") || strings.Contains(shown, "Browser.getVersion") {
		t.Errorf("not the client named other alone:\n%s", shown)
	}
	if strings.Contains(shown, long) || !strings.Contains(shown, "… (") || !strings.Contains(shown, " bytes)") {
		t.Errorf("a long message is not cut:\n%s", shown)
	}
	if !strings.Contains(whole, long) || strings.Contains(whole, "… (") || strings.Contains(whole, "Browser.getVersion") {
		t.Errorf("a long message is not shown in full:\n%s", whole)
	}
	for line := range strings.Lines(shown) {
		refused := strings.Contains(line, response) && strings.Contains(line, " failed ")
		if strings.Contains(line, "(endpoint)") != refused {
			t.Errorf("not only the endpoint's own response is marked: %s", line)
		}
	}
	// The log names a client before its first line.
	var joined struct{ Joined struct{ Name string } }
	if line, _, _ := strings.Cut(lines, "\n"); json.Unmarshal([]byte(line), &joined) != nil || joined.Joined.Name == "" {
		t.Errorf("the client is not named: %s", line)
	}
	for line := range strings.Lines(lines) {
		if !strings.Contains(string(recorded), strings.TrimSpace(line)) || strings.Contains(line, "Browser.getVersion") {
			t.Errorf("not as it is recorded, or not asked for: %s", line)
		}
	}
	if strings.Count(shown, "(endpoint)") != 1 || strings.Count(lines, `"from":"endpoint"`) != 2 {
		t.Errorf("the endpoint's refusals are not marked:\n%s\n%s", shown, lines)
	}
}

// The coordinator that serves the endpoint is killed: its log ends, and so does a
// recording. The next log is of the next coordinator.
func TestLogEndsWithItsCoordinator(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	owner := start(t, dir, "serve", "--workspace", workspace)
	window := openWindow(t, dir, workspace)
	if owner.first != window.first {
		t.Fatalf("two addresses: %s, %s", owner.first, window.first)
	}
	file := filepath.Join(dir, "session.jsonl")
	view, recording := startLog(t, dir, workspace), startLog(t, dir, workspace, "--record", file)
	join(t, window.first, "early/1.0").must("Browser.getVersion", `{}`)
	view.out.await(t, "early#1", "⇐ Browser.getVersion")
	awaitRecord(t, file, `"result"`)
	owner.kill(t)
	for _, l := range []logging{view, recording} {
		l.fails(t, "the coordinator that served the endpoint has ended")
	}
	next := startLog(t, dir, workspace)
	join(t, window.first, "late/1.0").must("Browser.getVersion", `{}`)
	next.end(t, "late#1")
}

// The second interruption ends a log even if no program reads its output.
func TestLogIsEndedWhereNobodyReads(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace)
	cmd := command(context.Background(), t, dir, "log", "--workspace", workspace, "--full")
	stderr := new(printed)
	cmd.Stderr = stderr
	unread, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stderr.await(t, "Listening")
	for range 3 { // more than a pipe holds
		evaluateAs(t, window.first, "long/1.0", strings.Repeat("x", 30_000))
	}
	if _, err := io.ReadFull(unread, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.After(time.Minute)
	for {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond): // no event reports the arrival of the first
		case <-limit:
			cmd.Process.Kill()
			t.Fatal("it goes on")
		}
	}
}
