package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// survivor is a program that runs on when another one was killed.
type survivor struct {
	name string
	pid  int
}

// used is the processor time of a process so far (proc_pid_stat(5)).
func (s survivor) used(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		t.Fatalf("%s has ended: %v", s.name, err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // no program here has that in its name
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// requireIdle waits until the programs have settled, as they do within a second or two.
// Then none may use more than 1 % of a processor for 10 s, or 3 % for 3 s. What spins uses
// all of one.
func requireIdle(t *testing.T, all []survivor) {
	t.Helper()
	const most = 100 * time.Millisecond
	measured := longtest.Form(t, 3*time.Second, 10*time.Second)
	use := func(in time.Duration) map[survivor]time.Duration {
		more := map[survivor]time.Duration{}
		for _, s := range all {
			more[s] = -s.used(t)
		}
		time.Sleep(in) // what is measured is the use of the processor in that time
		for _, s := range all {
			more[s] += s.used(t)
		}
		return more
	}
	for end := time.Now().Add(time.Minute); ; {
		busy := 0
		for _, more := range use(time.Second) {
			if more > most/5 {
				busy++
			}
		}
		if busy == 0 || time.Now().After(end) {
			break // what never settles is measured too
		}
	}
	for s, more := range use(measured) {
		t.Logf("%s: %v in %v", s.name, more, measured)
		if more > most {
			t.Errorf("%s uses the processor for %v in %v, want at most %v", s.name, more, measured, most)
		}
	}
}

// scene is one window with the programs around it, all of them as released.
type scene struct {
	*testing.T
	name, dir, folder string
	survivors         []survivor
}

func newScene(t *testing.T, name string) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bc-") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &scene{T: t, name: name, dir: dir, folder: toolstest.Folder(t, "shop")}
}

func (s *scene) command(args ...string) *exec.Cmd {
	s.Helper()
	path, err := buildReleased()
	if err != nil {
		s.Fatal(err)
	}
	cmd := command(context.Background(), s.T, s.dir, args...)
	cmd.Path, cmd.Dir = path, s.folder
	return cmd
}

// survives notes that a program must be idle in the end.
func (s *scene) survives(name string, cmd *exec.Cmd) *exec.Cmd {
	s.survivors = append(s.survivors, survivor{s.name + ": " + name, cmd.Process.Pid})
	return cmd
}

func (s *scene) window(args ...string) *exec.Cmd {
	s.Helper()
	return startCommand(s.T, s.command(append([]string{"window"}, args...)...)).cmd
}

// serve stands by for the endpoint, or serves it if it is the first.
func (s *scene) serve() *exec.Cmd {
	s.Helper()
	return startCommand(s.T, s.command("serve")).cmd
}

// agent is connected to the window's browser.
func (s *scene) agent() *exec.Cmd {
	s.Helper()
	cmd := s.command("mcp", "--no-launch")
	startHost(s.T, cmd).Must("browser_snapshot", nil)
	return cmd
}

// log reads the traffic of the endpoint's owner.
func (s *scene) log() *exec.Cmd {
	s.Helper()
	l := logging{s.command("log"), new(printed), new(printed)}
	l.Stdout, l.Stderr = l.out, l.err
	if err := l.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		l.Process.Kill() // fails if the test has killed it
		l.Wait()
	})
	l.err.await(s.T, "Listening")
	return l.Cmd
}

func (s *scene) kill(cmd *exec.Cmd) {
	s.Helper()
	if err := cmd.Process.Kill(); err != nil {
		s.Fatal(err)
	}
	cmd.Wait()
}

// extensionHost stands in for VS Code, whose own tests are in extension/e2e: a process of
// Node that serves a window by the extension's own code.
func (s *scene) extensionHost(browser string) *exec.Cmd {
	s.Helper()
	esbuild, err := filepath.Abs("../extension/node_modules/.bin/esbuild")
	if err != nil {
		s.Fatal(err)
	}
	if _, err := os.Stat(esbuild); errors.Is(err, fs.ErrNotExist) {
		s.Skip("the extension's tools are not installed; run: npm ci in extension/")
	}
	script := filepath.Join(s.dir, "window.mjs")
	const require = `--banner:js=import { createRequire } from "node:module"; ` +
		`const require = createRequire(import.meta.url);`
	build := exec.Command(esbuild, "../vscodeipc/testdata/window.ts", "--bundle", "--platform=node", "--format=esm",
		require, "--log-level=warning", "--outfile="+script)
	if out, err := build.CombinedOutput(); err != nil {
		s.Fatalf("build the window: %v: %s", err, out)
	}
	cmd := exec.Command("node", script, s.folder, "serve", browser)
	cmd.Env, cmd.Stderr = append(os.Environ(), environment(s.dir)...), os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		s.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		s.Fatal(err)
	}
	return cmd
}

func init() { programs["mcphost"] = hostMain }

// hostMain is an MCP host: it starts the server in its arguments, calls a tool, and waits.
func hostMain() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	session, err := mcp.NewClient(toolstest.Host, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd},
		nil)
	if err == nil {
		_, err = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "browser_snapshot", Arguments: args{}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	time.Sleep(10 * time.Minute)
}

// host is an MCP host with its own agent.
func (s *scene) host() *exec.Cmd {
	s.Helper()
	coordinator := s.command("mcp", "--no-launch")
	cmd := exec.Command(named(s.T, "mcphost"), append([]string{coordinator.Path}, coordinator.Args[1:]...)...)
	cmd.Env, cmd.Dir = coordinator.Env, coordinator.Dir
	return startCommand(s.T, cmd).cmd
}

// listen is a window's socket, whose connections answer serves.
func (s *scene) listen(name string, answer func(net.Conn)) {
	s.Helper()
	dir := filepath.Join(s.dir, "data", "browser-coordinator-mcp")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	path := filepath.Join(dir, "ipc-"+vscodeipc.Hash(name)+".sock")
	ln, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { ln.Close() })
	go func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			answer(conn)
			conn.Close()
		}
	}()
}

// droppingPage is a page of a shared debug session. It reports its target, and then ends
// the connection.
func droppingPage(t *testing.T) (url string) {
	url = toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for answered := ""; answered != "Browser.getVersion"; {
			_, text, err := c.Read(r.Context())
			if err != nil {
				return
			}
			var m struct {
				ID     int
				Method string
			}
			json.Unmarshal(text, &m)
			answered = m.Method
			c.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil,
				`{"id":%d,"result":{"targetInfo":{"targetId":"P","type":"page","url":"about:blank"}}}`, m.ID))
		}
	})
	return "ws" + strings.TrimPrefix(url, "http") + "/"
}

// Whoever of them is killed, the others wait for events: an idle program that lost a
// peer uses no processor.
func TestSurvivorsAreIdle(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t).URL()
	var all []survivor
	kills := map[string]func(*scene){
		"terminal window": func(s *scene) {
			w := s.window("--headless")
			s.survives("agent", s.agent())
			s.survives("another agent", s.agent())
			s.survives("serve", s.serve())
			s.kill(w)
		},
		"extension host": func(s *scene) {
			w := s.extensionHost(browser)
			s.survives("agent", s.agent())
			s.survives("another agent", s.agent())
			s.survives("log reader", s.log())
			s.kill(w)
		},
		"browser": func(s *scene) {
			own := toolstest.OwnBrowser(s.T, "")
			s.survives("extension host", s.extensionHost(own.URL()))
			s.survives("agent", s.agent())
			s.survives("another agent", s.agent())
			s.survives("log reader", s.log())
			syscall.Kill(own.PID(), syscall.SIGKILL)
		},
		"browser of a terminal window": func(s *scene) {
			w := s.command("window", "--headless")
			firstLine(s.T, w)
			s.survives("agent", s.agent())
			s.survives("another agent", s.agent())
			syscall.Kill(browserOf(s.T, w.Process.Pid), syscall.SIGKILL)
			w.Wait() // the window ends with its browser
		},
		"owner of the endpoint, and its agent": func(s *scene) {
			s.survives("extension host", s.extensionHost(browser))
			owner := s.agent()
			s.survives("agent", s.agent())
			s.survives("serve", s.serve())
			owner.Process.Kill() // its session waits for it
		},
		"agent, MCP host and log reader": func(s *scene) {
			s.survives("window", s.window("--headless"))
			s.survives("another agent", s.agent())
			killed, host, log := s.agent(), s.host(), s.log()
			below := processesBelow(s.T, host.Process.Pid)
			killed.Process.Kill()
			s.kill(host)
			s.kill(log)
			for _, p := range below {
				if !p.ends(time.Minute) {
					s.Errorf("the agent of a killed host is left")
				}
			}
		},
		"debugger that drops each connection": func(s *scene) {
			w := exec.Command(named(s.T, "vscodewindow"), s.folder, "1", "page", droppingPage(s.T))
			w.Env = append(os.Environ(), environment(s.dir)...)
			if _, err := w.StdinPipe(); err != nil {
				s.Fatal(err)
			}
			firstLine(s.T, w)
			s.Cleanup(func() { s.kill(w) })
			cmd := s.command("mcp", "--no-launch")
			startHost(s.T, cmd).Call("browser_snapshot", nil) // connects to the page, and fails
			s.survives("agent", cmd)
		},
		"windows that end, refuse or drop each connection": func(s *scene) {
			s.listen("another version", func(c net.Conn) {
				bufio.NewReader(c).ReadString('\n')
				io.WriteString(c, `{"id":1,"success":false,"error":{"code":"unsupported_version","message":"no"}}`+"\n")
			})
			s.listen("crashing", func(net.Conn) {})
			cmd := s.command("mcp", "--no-launch")
			startHost(s.T, cmd).Refused("browser_snapshot", nil, "no window is open")
			s.survives("agent", cmd)
		},
	}
	names := slices.Sorted(maps.Keys(kills))
	for _, name := range longtest.Form(t, []string{"extension host", "browser", "owner of the endpoint, and its agent"},
		names) {
		s := newScene(t, name)
		kills[name](s)
		all = append(all, s.survivors...)
	}
	slices.SortFunc(all, func(a, b survivor) int { return strings.Compare(a.name, b.name) })
	requireIdle(t, all)
}

// browserOf is the browser that a process has started.
func browserOf(t *testing.T, pid int) int {
	t.Helper()
	for _, child := range childrenOf(t, pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if strings.Contains(string(line), "--user-data-dir=") {
			return child
		}
	}
	t.Fatal("the window has no browser")
	return 0
}
