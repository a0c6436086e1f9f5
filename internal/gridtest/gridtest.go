// Package gridtest runs a real Selenium Grid on loopback, for tests and benchmarks: a hub,
// and nodes with Chromium.
//
//	grid := gridtest.Start(t, gridtest.Options{Nodes: 2})
//	… grid.URL() … gridtest.Capabilities() …
//
// `go tool task setup:grid` installs what it needs.
package gridtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/longtest"
)

// Options of a grid. The zero value is one node with one slot.
type Options struct {
	Nodes       int
	MaxSessions int // slots of each node; 0: one
	// after which a node ends an idle session; 0: five minutes. The server takes no less than ten
	// seconds, and checks each half minute
	SessionTimeout        time.Duration
	SessionRequestTimeout time.Duration // after which a request in the queue fails; 0: five minutes. Checked each second
	Username, Password    string        // basic authentication; empty: none
	HubArgs, NodeArgs     []string      // further arguments
}

// Grid is a running hub with its nodes.
type Grid struct {
	options     Options
	java        string
	jar         string
	dir         string
	publish     string // addresses of the event bus
	subscribe   string
	hubPort     int
	mu          sync.Mutex // one change at a time
	hub         *server
	nodes       []*server // in the order in which they started; a killed one stays
	unlock      func() error
	closeOnce   sync.Once
	closeResult error
}

// Capabilities are those of a session in this machine's Chromium, without a window.
func Capabilities() map[string]any {
	args := []string{"--headless=new", "--disable-gpu", "--disable-quic", "--disable-background-networking"}
	if os.Geteuid() == 0 { // for whom Chromium has no sandbox
		args = append(args, "--no-sandbox")
	}
	return map[string]any{"browserName": "chrome", "goog:chromeOptions": map[string]any{"args": args}}
}

// CapabilityFile is a file of them, for --grid-capability.
func CapabilityFile(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "capabilities.json")
	text, err := json.Marshal(Capabilities())
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Start runs a grid until the test ends. `go test -short` has no grids: they need Java, and
// half a minute each.
func Start(t testing.TB, options Options) *Grid {
	t.Helper()
	longtest.Require(t)
	g, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(g.Logs())
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// New runs a grid until Close, and returns when its nodes are ready for sessions. There is
// one grid at a time on a machine: New waits for the end of others.
func New(options Options) (_ *Grid, err error) {
	g := &Grid{options: options}
	g.options.Nodes, g.options.MaxSessions = cmp.Or(options.Nodes, 1), cmp.Or(options.MaxSessions, 1)
	if g.java, g.jar, err = findServer(); err != nil {
		return nil, err
	}
	if g.unlock, err = lock(g.jar); err != nil {
		return nil, fmt.Errorf("wait for the end of other grids: %w", err)
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, errors.Join(err, g.unlock())
	}
	g.hubPort = ports[0]
	g.publish, g.subscribe = fmt.Sprintf("tcp://127.0.0.1:%d", ports[1]), fmt.Sprintf("tcp://127.0.0.1:%d", ports[2])
	// Short: browsers have sockets below it.
	if g.dir, err = os.MkdirTemp("", "grid"); err != nil {
		return nil, errors.Join(err, g.unlock())
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start a Selenium Grid: %w\n%s", err, g.Logs()), g.Close())
		}
	}()
	if err := g.startHub(); err != nil {
		return nil, err
	}
	for range g.options.Nodes {
		if err := g.addNode(); err != nil {
			return nil, err
		}
	}
	return g, g.awaitNodes()
}

// Close ends the grid with all its browsers.
func (g *Grid) Close() error {
	g.closeOnce.Do(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, s := range append([]*server{g.hub}, g.nodes...) {
			if s != nil {
				s.kill()
			}
		}
		g.closeResult = errors.Join(os.RemoveAll(g.dir), g.unlock())
	})
	return g.closeResult
}

// URL is the address of the hub, without credentials.
func (g *Grid) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", g.hubPort) }

// KillNode ends a node with its drivers and browsers, like a crash of its machine. The
// numbers of the other nodes stay. The hub notices after some seconds.
func (g *Grid) KillNode(i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes[i].kill()
}

// StartNode adds a node, and returns when the hub has it.
func (g *Grid) StartNode() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.addNode(); err != nil {
		return err
	}
	return g.awaitNodes()
}

// KillHub ends the hub, like a crash.
func (g *Grid) KillHub() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hub.kill()
}

// RestartHub ends the hub and starts it again at the same address. It returns when all
// nodes have registered again. The new hub knows none of the sessions, which still run.
func (g *Grid) RestartHub() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hub.kill()
	if err := g.startHub(); err != nil {
		return err
	}
	return g.awaitNodes()
}

// Sessions returns the ids of the sessions that the nodes have now.
func (g *Grid) Sessions(ctx context.Context) ([]string, error) {
	s, err := g.status(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range s.Nodes {
		for _, slot := range n.Slots {
			if slot.Session != nil {
				ids = append(ids, slot.Session.SessionID)
			}
		}
	}
	return ids, nil
}

// NodeOf returns the number of the node that has the session.
func (g *Grid) NodeOf(ctx context.Context, session string) (int, error) {
	s, err := g.status(ctx)
	if err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range s.Nodes {
		for _, slot := range n.Slots {
			if slot.Session == nil || slot.Session.SessionID != session {
				continue
			}
			return slices.IndexFunc(g.nodes, func(s *server) bool { return s.url == n.URI }), nil
		}
	}
	return 0, fmt.Errorf("the grid has no session %s", session)
}

// Logs returns the last lines of each server's log.
func (g *Grid) Logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(g.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		lines := bytes.SplitAfter(text, []byte("\n"))
		fmt.Fprintf(&b, "--- %s\n%s", filepath.Base(file), bytes.Join(lines[max(0, len(lines)-60):], nil))
	}
	return b.String()
}

func (g *Grid) startHub() (err error) {
	args := []string{
		"--port", strconv.Itoa(g.hubPort), "--disable-ui", "true",
		// A killed node is noticed within seconds, where the defaults take minutes.
		"--healthcheck-interval", "2", "--purge-nodes-interval", "1",
		"--session-request-timeout-period", "1",
	}
	if d := g.options.SessionRequestTimeout; d != 0 {
		args = append(args, "--session-request-timeout", seconds(d))
	}
	if g.options.Username != "" {
		args = append(args, "--username", g.options.Username, "--password", g.options.Password)
	}
	g.hub, err = g.start("hub", g.URL(), append(args, g.options.HubArgs...))
	return err
}

func (g *Grid) addNode() error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	args := []string{
		"--port", strconv.Itoa(ports[0]), "--hub", g.URL(),
		"--detect-drivers", "true", "--driver-implementation", "chrome", "--selenium-manager", "false",
		"--max-sessions", strconv.Itoa(g.options.MaxSessions), "--override-max-sessions", "true",
		"--register-cycle", "1", "--heartbeat-period", "2",
	}
	if d := g.options.SessionTimeout; d != 0 {
		args = append(args, "--session-timeout", seconds(d))
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	s, err := g.start(fmt.Sprintf("node-%d", len(g.nodes)), url, append(args, g.options.NodeArgs...))
	if err == nil {
		g.nodes = append(g.nodes, s)
	}
	return err
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// startTimeout is for a slow machine with many nodes.
const startTimeout = 3 * time.Minute

// awaitNodes waits until the hub has every node that runs.
func (g *Grid) awaitNodes() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var err error
	for {
		var s status
		if s, err = g.status(ctx); err == nil {
			if err = g.missing(s); err == nil {
				return nil
			}
		}
		if s := g.findExited(); s != nil {
			return fmt.Errorf("the %s has ended: %v", s.name, s.err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the grid is not ready after %v: %w", startTimeout, err)
		case <-time.After(50 * time.Millisecond): // /status is all that the hub offers
		}
	}
}

func (g *Grid) missing(s status) error {
	up := map[string]bool{}
	for _, n := range s.Nodes {
		up[n.URI] = n.Availability == "UP"
	}
	for _, n := range g.nodes {
		if n.runs() && !up[n.url] {
			return fmt.Errorf("the hub does not have the %s at %s", n.name, n.url)
		}
	}
	return nil
}

// findExited returns a server that has ended by itself.
func (g *Grid) findExited() *server {
	for _, s := range append([]*server{g.hub}, g.nodes...) {
		if !s.runs() && !s.killed {
			return s
		}
	}
	return nil
}

// status is what the tests need of the hub's response to /status.
type status struct {
	Ready bool
	Nodes []struct {
		URI          string
		Availability string
		Slots        []struct {
			Session *struct{ SessionID string }
		}
	}
}

func (g *Grid) status(ctx context.Context) (status, error) {
	var answer struct{ Value status }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL()+"/status", nil)
	if err != nil {
		return status{}, err
	}
	if g.options.Username != "" {
		req.SetBasicAuth(g.options.Username, g.options.Password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return status{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return status{}, err
	}
	if resp.StatusCode/100 != 2 {
		return status{}, fmt.Errorf("%s/status: %s: %s", g.URL(), resp.Status, body)
	}
	err = json.Unmarshal(body, &answer)
	return answer.Value, err
}

// freePorts returns ports of the loopback address that nothing listens on now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
