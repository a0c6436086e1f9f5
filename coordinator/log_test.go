package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	l := logging{command(context.Background(), t, dir, append([]string{"log", "--workspace", workspace}, args...)...),
		new(printed), new(printed)}
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

// A log can begin before there is a browser. What it keeps goes to a new file that only
// the user can read.
func TestLog(t *testing.T) {
	t.Parallel()
	dir, workspace, url := t.TempDir(), t.TempDir(), toolstest.ServeSample(t)
	served := start(t, dir, "serve", "--workspace", workspace)
	file := filepath.Join(dir, "session.jsonl")
	kept := startLog(t, dir, workspace, "--output", file)
	view := startLog(t, dir, workspace, "--domain", "Page", "--method", "Runtime.eval*")
	openWindow(t, dir, workspace)
	if title, text := greet(t, served.first, url); title != "Hello Ada" || text != "Name" {
		t.Fatalf("the page has %q, %q", title, text)
	}
	text := view.end(t, "⇐ Runtime.evaluate")
	kept.end(t)

	for _, want := range []string{"→ Page.navigate", url, "⇐ Page.navigate", " ms ", "← Page.loadEventFired",
		"Runtime.evaluate"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not show %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Target.") || strings.Contains(text, "DOM.") {
		t.Errorf("the log shows what was not asked for:\n%s", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v", info, err)
	}
	lines, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(lines, []byte(`"method":"Page.navigate"`)) ||
		!bytes.Contains(lines, []byte("Hello Ada")) {
		t.Fatalf("the file: %s, %v", lines, err)
	}
	if bytes.Contains(lines, []byte(onlyToken(t, filepath.Join(dir, "state")))) {
		t.Error("the token is in the file")
	}
	// No file is overwritten.
	out, err := command(t.Context(), t, dir, "log", "--workspace", workspace, "--output", file).CombinedOutput()
	if now, _ := os.ReadFile(file); err == nil || !bytes.Equal(now, lines) ||
		!strings.Contains(string(out), "cannot make the file "+file+": file exists. Name a new file") {
		t.Errorf("log --output of a file that exists: %v, %s", err, out)
	}
}

// A log shows the traffic of all clients or of one alone, in short or in full, or the
// lines for programs. It marks responses that the endpoint itself sends when it
// refuses a request.
func TestLogViews(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	window := openWindow(t, dir, workspace, "--access", "view")
	everything := startLog(t, dir, workspace, "--json")
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
	text, whole, lines := other.end(t, response), full.end(t, response), jsonLines.end(t,
		`"from":"endpoint","message":{"id":1,`)
	all := everything.end(t)
	if !strings.Contains(text, "other#") || !strings.Contains(text, "→ Target.createTarget") ||
		strings.Contains(text, "Browser.getVersion") {
		t.Errorf("not the client named other alone:\n%s", text)
	}
	if strings.Contains(text, long) || !strings.Contains(text, "… (") || !strings.Contains(text, " bytes)") {
		t.Errorf("a long message is not cut:\n%s", text)
	}
	if !strings.Contains(whole, long) || strings.Contains(whole, "… (") ||
		strings.Contains(whole, "Browser.getVersion") {
		t.Errorf("a long message is not shown in full:\n%s", whole)
	}
	for line := range strings.Lines(text) {
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
		if !strings.Contains(all, line) || strings.Contains(line, "Browser.getVersion") {
			t.Errorf("not as it is without a filter, or not asked for: %s", line)
		}
	}
	if strings.Count(text, "(endpoint)") != 1 || strings.Count(lines, `"from":"endpoint"`) != 2 {
		t.Errorf("the endpoint's refusals are not marked:\n%s\n%s", text, lines)
	}
}

// The coordinator that serves the endpoint is killed: its logs end. The next log is of the
// next coordinator.
func TestLogEndsWithItsCoordinator(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	owner := start(t, dir, "serve", "--workspace", workspace)
	window := openWindow(t, dir, workspace)
	if owner.first != window.first {
		t.Fatalf("two addresses: %s, %s", owner.first, window.first)
	}
	view, lines := startLog(t, dir, workspace), startLog(t, dir, workspace, "--json")
	join(t, window.first, "early/1.0").must("Browser.getVersion", `{}`)
	view.out.await(t, "early#1", "⇐ Browser.getVersion")
	lines.out.await(t, `"result"`)
	owner.kill(t)
	for _, l := range []logging{view, lines} {
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

// onlyToken returns the token of the only endpoint in a folder of state.
func onlyToken(t *testing.T, state string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(state, "*", "endpoint-*.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("endpoints %q, %v", paths, err)
	}
	text, err := os.ReadFile(paths[0])
	var kept struct{ Token string }
	if err = errors.Join(err, json.Unmarshal(text, &kept)); err != nil || len(kept.Token) != 64 {
		t.Fatalf("%s: %s, %v", paths[0], text, err)
	}
	return kept.Token
}
