package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// bearer sends requests with a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// tokenIn reads the token of the programs whose files are in dir.
func tokenIn(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "state", "browser-coordinator-mcp", "mcp-token")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// listen starts `coordinator mcp --listen` in a folder.
func listen(t *testing.T, dir, folder string, args ...string) *running {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"mcp", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = folder
	return startCommand(t, cmd)
}

// connectHost connects a host of that name over HTTP, with these folders.
func connectHost(t *testing.T, dir string, server *running, name string, roots ...string) *toolstest.Agent {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	for _, root := range roots {
		//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
		client.AddRoots(&mcp.Root{URI: "file://" + root})
	}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.first,
		HTTPClient: &http.Client{Transport: bearer(tokenIn(t, dir))}}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, server.stderr)
	}
	t.Cleanup(func() { session.Close() })
	return toolstest.NewAgent(t, session, server.cmd.Dir)
}

// A host over HTTP, which may be in a container, chooses neither the window nor the files that it
// reads by its roots.
func TestListenRoots(t *testing.T) {
	t.Parallel()
	shop, other := toolstest.OpenWindow(t), toolstest.OpenWindowAt(t, toolstest.Folder(t, "other"), "")
	server := listen(t, toolstest.Dir, shop.Folder, "--no-launch")
	agent := connectHost(t, toolstest.Dir, server, "Ada", other.Folder, "/")
	agent.Await("shop")
	agent.Open(toolstest.ServeHTML(t, "<input type=file onclick=\"setTimeout(() => document.title = 'asked', 0)\">"))
	agent.Must("browser_click", args{"target": "input"})
	agent.Refused("browser_file_upload", args{"paths": []string{"/etc/hostname"}}, "out of bounds")
}

// Hosts over HTTP have an agent each: its own tabs, name, questions, and stop.
func TestListen(t *testing.T) {
	t.Parallel()
	dir, window := toolstest.Dir, toolstest.OpenWindow(t)
	server := listen(t, dir, window.Folder, "--no-launch")
	ada, ben := connectHost(t, dir, server, "Ada"), connectHost(t, dir, server, "Ben")
	ada.Open(toolstest.ServeHTML(t, "<title>of Ada</title>")) // in the user's tab
	ben.Open(toolstest.ServeHTML(t, "<title>of Ben</title>"))
	ada.ExpectValue("() => document.title", `"of Ada"`)
	ben.ExpectValue("() => document.title", `"of Ben"`)
	toolstest.Called(window, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		names := []string{}
		for _, c := range a.Clients {
			names = append(names, c.Name)
		}
		return slices.Contains(names, "Ada") && slices.Contains(names, "Ben")
	})
	if tabs := ben.Must("browser_tabs", args{"action": "list"}); !strings.Contains(tabs, "of Ada") {
		t.Errorf("they are not in one browser: %s", tabs)
	}

	// The user is asked with the name of the one who acts, and stops one: the other goes on.
	window.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	window.Allow(vscodeipc.AccessAsk)
	ben.Await("[access: ask]")
	ben.ExpectValue("() => document.title", `"of Ben"`)
	toolstest.Called(window, vscodeipc.CommandPermissionAsk, func(q vscodeipc.AskArg) bool {
		return q.Client.Name == "Ben"
	})
	awaitAda := func(description string, condition func(error) bool) { // a window's state comes when it comes
		t.Helper()
		var err error
		defer func() {
			if t.Failed() {
				t.Logf("Ada's last snapshot: %v", err)
			}
		}()
		must.Await(t, description, func() bool {
			_, err = ada.Call("browser_snapshot", nil)
			return condition(err)
		})
	}
	window.Allow(vscodeipc.AccessFull, "Ada")
	awaitAda("Ada is stopped", func(err error) bool { return err != nil && strings.Contains(err.Error(), "stopped") })
	ben.ExpectValue("() => document.title", `"of Ben"`)
	window.Allow(vscodeipc.AccessFull)
	awaitAda("Ada goes on", func(err error) bool { return err == nil })

	// A host's end ends its agent alone, with the tab that it has opened.
	if err := ben.Close(); err != nil {
		t.Error(err)
	}
	if tabs := ada.Must("browser_tabs", args{"action": "list"}); strings.Contains(tabs, "of Ben") {
		t.Errorf("Ben's tab is still there: %s", tabs)
	}
	ada.ExpectValue("() => document.title", `"of Ada"`)
	server.stop(t)
}

// Without a window each host has its own private browser, which ends with its session.
func TestListenWithoutAWindow(t *testing.T) {
	t.Parallel()
	waits := make(chan struct{})
	url := toolstest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/waits" {
			close(waits)
		}
	})
	dir := t.TempDir()
	server := listen(t, dir, toolstest.Folder(t, "shop"))
	ada, ben := connectHost(t, dir, server, "Ada"), connectHost(t, dir, server, "Ben")
	for _, agent := range []*toolstest.Agent{ada, ben} {
		agent.Open(url)
	}
	ada.Evaluate("() => document.cookie = 'of=Ada'")
	ben.ExpectValue("() => document.cookie", `""`)
	names := func() (names []string) {
		t.Helper()
		var report status.Report
		if err := json.Unmarshal([]byte(output(t, dir, "status", "--json")), &report); err != nil {
			t.Fatal(err)
		}
		for _, a := range report.Agents {
			if a.Browser == nil || a.Browser.Via != "launched" {
				t.Errorf("%+v", a)
			}
			names = append(names, a.Name)
		}
		slices.Sort(names)
		return names
	}
	if got := names(); !slices.Equal(got, []string{"Ada", "Ben"}) {
		t.Errorf("agents: %q", got)
	}
	ada.Close()
	if got := names(); !slices.Equal(got, []string{"Ben"}) {
		t.Errorf("agents after the end of one: %q", got)
	}

	// A signal ends a call, all sessions and the program.
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = ben.CallTool(context.Background(), &mcp.CallToolParams{Name: "browser_evaluate",
			Arguments: args{"function": "() => { fetch('/waits'); return new Promise(() => {}) }"}})
	}()
	await := func(description string, done <-chan struct{}) {
		t.Helper()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: not in 30 s\n%s", description, server.stderr)
		}
	}
	await("the page waits", waits)
	began := time.Now()
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, server.stderr)
	}
	await("the call ends", answered)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the end took %v", took)
	}
}

// What is no host of this user gets in nowhere, and disturbs nobody.
func TestListenAttacked(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), toolstest.Folder(t, "shop")
	server := listen(t, dir, folder, "-v", "--no-launch")
	ada := connectHost(t, dir, server, "Ada")
	token := tokenIn(t, dir)
	type headers = map[string]string
	admitted := func(more headers) headers {
		all := headers{"Authorization": "Bearer " + token, "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream"}
		maps.Copy(all, more)
		return all
	}
	send := func(method, url, body string, headers headers) (int, http.Header, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		req.Host = cmp.Or(headers["Host"], req.Host)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body) // it may be cut
		return res.StatusCode, res.Header, string(text)
	}
	for name, c := range map[string]struct {
		method, url, body string
		headers           headers
		want              int
		text              string
	}{
		"no token": {"POST", "", initialize, admitted(headers{"Authorization": ""}), 401,
			"`coordinator mcp --listen` names"},
		"a wrong token": {"POST", "", initialize, admitted(headers{"Authorization": "Bearer " + token[1:]}), 401,
			"token missing or wrong"},
		"another scheme": {"POST", "", initialize, admitted(headers{"Authorization": "Basic " + token}), 401,
			"token missing or wrong"},
		"a token in the query": {
			"POST", server.first + "?token=" + token, initialize, admitted(headers{"Authorization": ""}), 401,
			"token missing or wrong",
		},
		"a rebound name": {"POST", "", initialize, admitted(headers{"Host": "evil.example"}), 403, "by another name"},
		"a page": {"POST", "", initialize, admitted(headers{"Origin": "https://evil.example"}), 403,
			"web pages may not"},
		"a page of this origin": {
			"POST", "", initialize, admitted(headers{"Origin": strings.TrimSuffix(server.first, "/mcp")}), 403,
			"web pages may not",
		},
		"a sandboxed page": {"POST", "", initialize, admitted(headers{"Origin": "null"}), 403, "web pages may not"},
		"a picture":        {"GET", "", "", admitted(headers{"Sec-Fetch-Site": "cross-site"}), 403, "a web page"},
		"a preflight":      {"OPTIONS", "", "", headers{"Access-Control-Request-Method": "POST"}, 403, "preflight"},
		"another path":     {"POST", strings.TrimSuffix(server.first, "mcp"), initialize, admitted(nil), 404, "/mcp"},
		"no JSON":          {"POST", "", "{", admitted(nil), 400, ""},
		"no body":          {"POST", "", "", admitted(nil), 400, ""},
		"a form": {
			"POST", "", "a=b", admitted(headers{"Content-Type": "application/x-www-form-urlencoded"}), 415, "",
		},
		"a call before":      {"POST", "", ping, admitted(nil), 200, ""},
		"a huge body":        {"POST", "", `"` + strings.Repeat("x", 17<<20), admitted(nil), 413, ""},
		"an unknown session": {"POST", "", ping, admitted(headers{"Mcp-Session-Id": "x"}), 404, "has ended"},
		"no session":         {"GET", "", "", admitted(nil), 400, ""},
		"another method":     {"PUT", "", initialize, admitted(nil), 405, ""},
		"another's session": {"DELETE", "", "", admitted(headers{"Authorization": "", "Mcp-Session-Id": ada.ID()}), 401,
			"token missing or wrong"},
	} {
		status, header, text := send(c.method, cmp.Or(c.url, server.first), c.body, c.headers)
		if status != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if (status == 401) != (header.Get("WWW-Authenticate") != "") || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", name, header)
		}
	}
	ada.Must("window_list", nil) // it goes on
	if err := ada.Close(); err != nil {
		t.Error(err)
	}
	server.stop(t)
	if strings.Contains(server.stderr.String(), token) {
		t.Errorf("the token is in the log:\n%s", server.stderr)
	}
	if strings.Contains(server.stderr.String(), "Stateless") {
		t.Errorf("the log has another program's words:\n%s", server.stderr)
	}

	// The token outlives the program, and nobody else may have made it.
	again := listen(t, dir, folder, "--no-launch")
	if tokenIn(t, dir) != token {
		t.Error("the token has changed")
	}
	connectHost(t, dir, again, "Ada").Must("window_list", nil)
	file := filepath.Join(dir, "state", "browser-coordinator-mcp", "mcp-token")
	for _, spoil := range []func() error{
		func() error { return os.Chmod(file, 0o644) },
		func() error { return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("x"), 0o600)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		out, err := command(t.Context(), t, dir, "mcp", "--listen", "127.0.0.1:0").CombinedOutput()
		if err == nil || !strings.Contains(string(out), file) {
			t.Errorf("with a bad file: %v %s", err, out)
		}
	}
}

// Only loopback is listened at, and no file makes every host's coordinator listen.
func TestListenAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, address := range []string{
		"0.0.0.0:9300", ":9300", "9300", "192.168.1.2:9300", "shop.example:9300", "127.0.0.1", "[::]:1",
	} {
		out, err := command(t.Context(), t, dir, "mcp", "--listen", address).CombinedOutput()
		if exitCode(err) != exitUsage || !strings.Contains(string(out), "want 127.0.0.1:PORT") {
			t.Errorf("%s: %v %s", address, err, out)
		}
	}
	taken := listen(t, dir, t.TempDir(), "--no-launch")
	address := strings.TrimSuffix(strings.TrimPrefix(taken.first, "http://"), "/mcp")
	out, err := command(t.Context(), t, dir, "mcp", "--listen", address).CombinedOutput()
	if exitCode(err) != exitFailure || !strings.Contains(string(out), "another program has the port. Choose another") {
		t.Errorf("%v %s", err, out)
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".browser-coordinator"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(folder, ".browser-coordinator", "config.toml"),
		filepath.Join(dir, "config", "browser-coordinator", "config.toml")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, []byte("listen = \"127.0.0.1:0\"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := command(t.Context(), t, dir, "mcp")
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); exitCode(err) != exitUsage || !strings.Contains(string(out), "listen is") {
			t.Errorf("%s: %v %s", file, err, out)
		}
		os.Remove(file)
	}
}

// exitCode is that of a command that has failed so.
func exitCode(err error) int {
	var exit *exec.ExitError
	errors.As(err, &exit)
	return exit.ExitCode()
}
