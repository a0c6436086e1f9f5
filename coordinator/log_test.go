package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// greet is a client's work on a page: what comes of it is seen by the client.
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

// listening is a log command that has begun to listen.
func listening(t *testing.T, dir string, args ...string) (stop func() string) {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"log"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
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
	return func() string {
		cmd.Process.Signal(os.Interrupt)
		io.Copy(io.Discard, stderr)
		if err := cmd.Wait(); err != nil {
			t.Errorf("log ended with %v", err)
		}
		return out.String()
	}
}

func TestLogAndReplay(t *testing.T) {
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

	// No browser and no page server any more: the client notices nothing.
	replay := start(t, dir, "replay", file)
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

func glob(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}
