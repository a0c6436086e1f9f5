//go:build unix

package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

// helperVariable makes the test binary a program that launches a browser,
// prints its pid, endpoint and profile, and waits to be killed.
const helperVariable = "BROWSER_COORDINATOR_TEST_LAUNCH"

func TestMain(m *testing.M) {
	if executable := os.Getenv(helperVariable); executable != "" {
		launchAndWait(executable)
		return
	}
	os.Exit(m.Run())
}

func launchAndWait(executable string) {
	b, err := Launch(context.Background(), Options{Executable: executable, Headless: true,
		Args: []string{"--disable-gpu"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(b.PID(), b.cmd.ProcessState == nil, b.URL(), b.profile.dir)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func browserPath(t *testing.T) string {
	t.Helper()
	found, err := Find(FindOptions{})
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	return found
}

// version requests the version from the browser's DevTools server. The paths of a pipe's
// server begin with its secret.
func version(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	base, _, _ := strings.Cut(u.Path, "/devtools/")
	resp, err := http.Get("http://" + u.Host + base + "/json/version")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if !strings.Contains(string(body), u.Path) {
		return fmt.Errorf("another browser answers at %s: %s", endpoint, body)
	}
	return nil
}

// shortTemp is a temporary directory whose path is short enough for sockets.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("/tmp", "bc-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// tryLaunch launches a headless browser for a test, which ends with it.
func tryLaunch(t *testing.T, opts Options) (*Browser, error) {
	t.Helper()
	opts.Executable, opts.Headless = browserPath(t), true
	opts.Args = []string{"--disable-gpu"} // a container has none
	b, err := Launch(t.Context(), opts)
	if err == nil {
		t.Cleanup(func() { b.Close(context.Background()) })
	}
	return b, err
}

func mustLaunch(t *testing.T, opts Options) *Browser {
	t.Helper()
	b := must.Get(tryLaunch(t, opts))(t)
	return b
}

func TestLaunchAndClose(t *testing.T) {
	t.Setenv("TMPDIR", shortTemp(t))
	t.Setenv("ELECTRON_RUN_AS_NODE", "1")
	b := mustLaunch(t, Options{Viewport: "900x700"})
	if err := version(b.URL()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(b.URL(), "ws://127.0.0.1:") {
		t.Errorf("endpoint %s is not on the loopback address", b.URL())
	}
	if _, err := os.Stat(b.profile.dir); err != nil {
		t.Errorf("no private profile while the browser runs: %v", err)
	}
	if b.Err() != nil {
		t.Errorf("Err of a running browser: %v", b.Err())
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-b.Done()
	if b.Err() != nil {
		t.Errorf("Err after Close: %v", b.Err())
	}
	if err := version(b.URL()); err == nil {
		t.Error("the browser still answers after Close")
	}
	entries, err := os.ReadDir(os.TempDir())
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestHeadlessHasNoHiddenPages: the browser's own interface, which nobody sees, has no pages.
func TestHeadlessHasNoHiddenPages(t *testing.T) {
	b := mustLaunch(t, Options{})
	base := strings.Replace(b.URL(), "ws://", "http://", 1)
	base, _, _ = strings.Cut(base, "/devtools/")
	open := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/json/new?about:blank", nil))(t)
	for range 3 { // with each new page the interface changes
		resp := must.Get(http.DefaultClient.Do(open))(t)
		resp.Body.Close()
	}
	resp := must.Get(http.Get(base + "/json/list"))(t)
	defer resp.Body.Close()
	var targets []struct{ Type, URL string }
	must.Do(t, json.NewDecoder(resp.Body).Decode(&targets))
	if len(targets) < 4 {
		t.Errorf("the pages are not listed: %v", targets)
	}
	for _, target := range targets {
		if target.Type != "page" {
			t.Errorf("a %s at %s", target.Type, target.URL)
		}
	}
}

// TestDownloadsStayInTheProfile: the downloads of a headless browser are not in the
// user's home. They are removed with the profile.
func TestDownloadsStayInTheProfile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment; filename=report.csv")
			fmt.Fprint(w, "1,2,3")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<script>location.href = '/file'</script>")
	}))
	defer server.Close()
	b := mustLaunch(t, Options{URL: server.URL})
	file := filepath.Join(b.Downloads(), "report.csv")
	must.Await(t, file, func() bool {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == "1,2,3"
	})
	if err := b.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "Downloads")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a folder for downloads in the home directory: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the download stays when the browser has ended")
	}
}

func TestBrowserThatEndsByItself(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := mustLaunch(t, Options{})
	must.Do(t, b.cmd.Process.Kill())
	<-b.Done()
	if b.Err() == nil {
		t.Error("no error for a browser that was killed by another program")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.profile.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private profile stays: %v", err)
	}
}

func TestLaunchFailures(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700))
		return path
	}
	for _, test := range []struct {
		name, want string
		opts       Options
	}{
		{"not there", "no such file", Options{Executable: filepath.Join(dir, "none")}},
		{"ends at once", "its last output: no display here",
			Options{Executable: script("ends", "echo no display here >&2; exit 7\n")}},
		{"prints much", "its last output: No usable sandbox!",
			Options{Executable: script("talks", "echo first >&2; "+
				"echo '[7:7:1122/115645.015447:FATAL:content/zygote.cc:257] No usable sandbox!' >&2; "+
				"echo '[7:9:1122/115645.016279:ERROR:dbus/bus.cc:405] Failed to connect to the bus' >&2; exit 7\n")}},
		{"no display", "no display to show its window on (Missing X server or $DISPLAY)",
			Options{Executable: script("unseen",
				"echo '[7:7:1122/115645.015447:ERROR:ui/ozone.cc:257] Missing X server or $DISPLAY' >&2; "+
					"for i in 1 2 3 4 5 6 7 8 9; do "+
					"echo '[7:9:1122/115645.016279:ERROR:dbus/bus.cc:405] Failed to connect to the bus' >&2; "+
					"done; exit 1\n")}},
		{"prints nothing", "not ready in time", Options{Executable: script("silent",
			"exec cat /dev/zero >/dev/null\n")}},
		{"viewport", "want WIDTHxHEIGHT", Options{Executable: script("any", "exit 0\n"), Viewport: "wide"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx := t.Context()
			if test.name == "prints nothing" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
			}
			b, err := Launch(ctx, test.opts)
			if err == nil {
				b.Close(t.Context())
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not contain %q", err, test.want)
			}
			if strings.Contains(err.Error(), "bus") || strings.Contains(err.Error(), "first") {
				t.Errorf("error %q contains more than the last useful line", err)
			}
		})
	}
	remaining, _ := filepath.Glob(filepath.Join(os.TempDir(), profilePrefix+"*"))
	if len(remaining) > 0 {
		t.Errorf("left behind: %v", remaining)
	}
}

// A coordinator that is killed leaves no browser, no helper and no profile.
func TestNoOrphanWhenKilled(t *testing.T) {
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+browserPath(t), "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(t)
	defer stdin.Close()
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the helper did not launch: %v", err)
	}
	var pid int
	var running bool
	var endpoint, profile string
	if _, err := fmt.Sscan(line, &pid, &running, &endpoint, &profile); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	must.Do(t, version(endpoint))
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
	must.Await(t, "the browser ends after its killed coordinator", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // nobody may reap it
		return strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
	must.Await(t, "the profile is deleted", func() bool {
		_, err := os.Stat(profile)
		return errors.Is(err, fs.ErrNotExist)
	})
}
