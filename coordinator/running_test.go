package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/notify"
	"browser-coordinator/internal/toolstest"
)

type args = toolstest.Args

// running is a coordinator command in the foreground of its own process.
type running struct {
	cmd    *exec.Cmd
	first  string // the first line that it printed
	stderr *printed
}

// start runs a command until the test ends, and waits for its first line.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return startCommand(t, command(context.Background(), t, dir, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd, stderr: new(printed)}
	r.cmd.Stderr = r.stderr
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%v ended before it was ready: %v\n%s", cmd.Args, err, r.stderr)
	}
	r.first = strings.TrimSpace(line)
	return r
}

// openWindow starts `coordinator window` without a visible browser.
func openWindow(t *testing.T, dir, workspace string, args ...string) *running {
	t.Helper()
	return start(t, dir, append([]string{"window", "--headless", "--workspace", workspace}, args...)...)
}

// stop interrupts the command as a user does, and requires a clean end.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if r.cmd.ProcessState != nil {
		return
	}
	r.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(30*time.Second, func() { r.cmd.Process.Kill() })
	defer timer.Stop()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v ended with %v\n%s", r.cmd.Args, err, r.stderr)
	}
}

// kill ends the command at once.
func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.cmd.Wait()
}

// output is what a command prints, which must succeed.
func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), t, dir, args...).Output()
	if err != nil {
		var exited *exec.ExitError
		errors.As(err, &exited)
		t.Fatalf("%v: %v\n%s", args, err, exited.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// host starts the coordinator as an MCP host does.
func host(t *testing.T, dir, workspace string, args ...string) *toolstest.Agent {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"mcp"}, args...)...)
	cmd.Dir = workspace
	return startHost(t, cmd)
}

// startHost starts an MCP server, which must end well.
func startHost(t *testing.T, cmd *exec.Cmd) *toolstest.Agent {
	t.Helper()
	cmd.Cancel = nil
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	session, err := mcp.NewClient(toolstest.Host, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil && cmd.ProcessState.ExitCode() >= 0 {
			t.Errorf("the coordinator ended with %v\n%s", err, &stderr)
		}
	})
	return toolstest.NewAgent(t, session, cmd.Dir)
}

// titles uses chromedp to read the titles of an endpoint's pages.
func titles(t *testing.T, endpoint string) []string {
	t.Helper()
	titles, err := readTitles(t.Context(), endpoint)
	if err != nil {
		t.Fatalf("chromedp at %s: %v", endpoint, err)
	}
	return titles
}

func readTitles(ctx context.Context, endpoint string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, target := range targets {
		if target.Type == "page" {
			titles = append(titles, target.Title)
		}
	}
	return titles, nil
}

// get requests an address, with these headers.
func get(t *testing.T, address string, headers http.Header) (status int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if headers != nil {
		req.Header = headers
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(text)
}

// printed is the output of a command so far.
type printed struct {
	mu   sync.Mutex // guards the fields that follow
	text bytes.Buffer
	more notify.Broadcast
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more.Notify()
	return p.text.Write(b)
}

// await returns when the command has printed all of these.
func (p *printed) await(t *testing.T, want ...string) {
	t.Helper()
	p.awaitText(t, fmt.Sprintf("%q", want), func(text string) bool {
		return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// awaitText returns when what the command has printed fits.
func (p *printed) awaitText(t *testing.T, description string, fits func(text string) bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		p.mu.Lock()
		text, more := p.text.String(), p.more.Next()
		p.mu.Unlock()
		if fits(text) {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("not all of %s is printed:\n%s", description, text)
		}
	}
}

// client is a CDP client that sends raw messages.
type client struct {
	*websocket.Conn
	t  *testing.T
	id int
}

// join connects a client of that name to an endpoint's browser.
func join(t *testing.T, endpoint, name string) *client {
	t.Helper()
	return joinAt(t, strings.Replace(endpoint, "http://", "ws://", 1)+"/devtools/browser/x", name)
}

// joinPage connects a client to an endpoint's first page.
func joinPage(t *testing.T, endpoint, name string) *client {
	t.Helper()
	_, body := get(t, endpoint+"/json/list", nil)
	var pages []struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal([]byte(body), &pages); err != nil || len(pages) == 0 {
		t.Fatalf("pages: %s, %v", body, err)
	}
	return joinAt(t, pages[0].URL, name)
}

func joinAt(t *testing.T, address, name string) *client {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), address,
		&websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {name}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	c.SetReadLimit(64 << 20)
	return &client{Conn: c, t: t}
}

// refusedClient connects a client to an endpoint's browser, and returns the status line of
// the refusal.
func refusedClient(t *testing.T, endpoint, name string) string {
	t.Helper()
	c, res, err := websocket.Dial(t.Context(), strings.Replace(endpoint, "http://", "ws://", 1)+"/devtools/browser/x",
		&websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {name}}})
	if err == nil {
		c.CloseNow()
		return "101"
	}
	if res == nil {
		return err.Error()
	}
	return res.Status
}

// fromAnotherProgram returns an address at which the endpoint's clients belong to another
// program than this test: on Linux a client is the process that connects, in its session, and
// elsewhere what it says of itself.
func fromAnotherProgram(t *testing.T, endpoint string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("setsid", named(t, "forwarder"), u.Host)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if u.Host, err = bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	u.Host = strings.TrimSpace(u.Host)
	return u.String()
}

// forwarderMain prints an address, and forwards its connections to another one.
func forwarderMain() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	for {
		client, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		server, err := net.Dial("tcp", os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			go func() {
				_, _ = io.Copy(way[0], way[1])
				way[0].Close()
			}()
		}
	}
}

func (c *client) send(method, params string) {
	c.t.Helper()
	if err := c.write(method, params); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) write(method, params string) error {
	c.id++
	return c.Write(c.t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"method":%q,"params":%s}`, c.id,
		method, params))
}

// response is that to the last message: its result, its error's text, or the end of the
// connection.
func (c *client) response() (string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			return "", err
		}
		var m struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(b, &m); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case m.ID != c.id:
		case m.Error != nil:
			return "", errors.New(m.Error.Message)
		default:
			return string(m.Result), nil
		}
	}
}

func (c *client) call(method, params string) (string, error) {
	c.t.Helper()
	if err := c.write(method, params); err != nil {
		return "", err
	}
	return c.response()
}

// must is call for a command that succeeds.
func (c *client) must(method, params string) string {
	c.t.Helper()
	result, err := c.call(method, params)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// closed reads until the connection ends, and requires that close code and reason. A busy
// client sends a request before it reads each message.
func (c *client) closed(busy bool, code websocket.StatusCode, reason string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if busy {
			c.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"Target.getTargets"}`)) // the reader gets the error
		}
		if _, _, err := c.Read(ctx); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != code || !strings.Contains(closed.Reason, reason) {
				c.t.Errorf("%v, want close %d %s", err, code, reason)
			}
			return
		}
	}
}

const openTab = `{"url":"data:text/html,<title>opened</title>"}`
