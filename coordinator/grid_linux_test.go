package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/gridtest"
	"browser-coordinator/internal/toolstest"
)

// gridTimeout is for a slow machine with a dozen browsers.
const gridTimeout = 4 * time.Minute

// onGrid are the flags for a browser of a grid.
func onGrid(t *testing.T, grid *gridtest.Grid) []string {
	t.Helper()
	return []string{"--grid", grid.URL(), "--grid-capability", gridtest.CapabilityFile(t)}
}

// dialEndpoint connects a CDP client to an endpoint.
func dialEndpoint(t *testing.T, endpoint string) *cdptest.Client {
	t.Helper()
	status, body := get(t, endpoint+"/json/version", nil)
	var version struct{ WebSocketDebuggerURL string }
	if err := json.Unmarshal([]byte(body), &version); err != nil {
		t.Fatalf("HTTP %d: %s", status, body)
	}
	return cdptest.Dial(t, version.WebSocketDebuggerURL)
}

func awaitSessions(t *testing.T, grid *gridtest.Grid, n int) []string {
	t.Helper()
	for end := time.Now().Add(gridTimeout); ; time.Sleep(100 * time.Millisecond) { // the grid has no event for it
		ids, err := grid.Sessions(t.Context())
		if err == nil && len(ids) == n {
			return ids
		}
		if time.Now().After(end) {
			t.Fatalf("the grid has the sessions %q (%v), want %d", ids, err, n)
		}
	}
}

// Four agents in one job have a browser each. A node dies, and a coordinator: the others
// go on, and no session stays behind.
func TestGridFleet(t *testing.T) {
	const agents = 4
	// The node's timeout is also that of a browser's start. What starts too slowly is started
	// again, and stays beside it.
	grid := gridtest.Start(t, gridtest.Options{Nodes: 2, MaxSessions: agents, SessionTimeout: 40 * time.Second})
	flags, dir, sample := onGrid(t, grid), t.TempDir(), toolstest.ServeSample(t)
	fleet, kill := make([]*toolstest.Agent, agents), func() error { return nil }
	var all sync.WaitGroup
	for i := range fleet {
		cmd := command(context.Background(), t, dir, append([]string{"mcp"}, flags...)...)
		cmd.Dir = toolstest.Folder(t, fmt.Sprintf("shop%d", i))
		fleet[i] = startHost(t, cmd)
		kill = func() error { return cmd.Process.Kill() }
	}
	starting := make(chan struct{}, 2) // a start of a browser takes all that a processor has
	visit := func(round int) {
		t.Helper()
		for i, agent := range fleet {
			all.Go(func() {
				starting <- struct{}{}
				defer func() { <-starting }()
				url := fmt.Sprintf("%s/%d/%d", sample, round, i)
				// A call in which the browser dies fails. The next one has another browser.
				for end := time.Now().Add(gridTimeout); ; {
					text, err := agent.Call("browser_navigate", args{"url": url})
					if err == nil && strings.Contains(text, url) {
						return
					}
					if time.Now().After(end) {
						t.Errorf("agent %d: %v %s", i, err, text)
						return
					}
				}
			})
		}
		all.Wait()
	}
	visit(1)
	first := awaitSessions(t, grid, agents)
	if text := output(t, dir, "status"); strings.Count(text, "(provided)") != agents {
		t.Errorf("status:\n%s", text)
	}
	if text := fleet[0].Must("browser_snapshot", nil); strings.Contains(text, "of its own") {
		t.Errorf("reported twice: %s", text)
	}

	node, err := grid.NodeOf(t.Context(), first[0])
	if err != nil {
		t.Fatal(err)
	}
	grid.KillNode(node)
	visit(2)
	awaitSessions(t, grid, agents)
	for i, agent := range fleet {
		agent.Expect("browser_snapshot", nil, fmt.Sprintf("%s/2/%d", sample, i))
	}

	if err := kill(); err != nil { // the last one
		t.Fatal(err)
	}
	awaitSessions(t, grid, agents-1) // by the grid's timeout
	for _, agent := range fleet[:agents-1] {
		agent.Close()
	}
	awaitSessions(t, grid, 0)
}

// A window with a browser of a grid keeps its address when the node dies. Its CDP clients
// get a close frame, and find the next browser there.
func TestGridWindow(t *testing.T) {
	t.Parallel()
	grid := gridtest.Start(t, gridtest.Options{Nodes: 2})
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	flags := onGrid(t, grid)
	w := start(t, dir, append([]string{"window", "--workspace", shop}, flags...)...)
	w.stderr.await(t, "of Selenium Grid "+grid.URL())
	client := dialEndpoint(t, w.first)
	client.Call("", "Browser.getVersion", "", nil)
	agent := host(t, dir, shop)
	agent.Open(toolstest.ServeSample(t))
	ids := awaitSessions(t, grid, 1)
	if text := output(t, dir, "status"); !strings.Contains(text, "(provided)") {
		t.Errorf("status: %s", text)
	}

	node, err := grid.NodeOf(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	grid.KillNode(node)
	var closed websocket.CloseError
	if err := client.Ended(); !errors.As(err, &closed) || closed.Reason == "" {
		t.Errorf("the client's connection ended with %v", err)
	}
	w.stderr.await(t, "the next browser is ready")
	dialEndpoint(t, w.first).Call("", "Browser.getVersion", "", nil)
	agent.Await("Chrome/")
	agent.Open(toolstest.ServeSample(t))
	if ids := awaitSessions(t, grid, 1); ids[0] == "" {
		t.Error("no session")
	}
	agent.Close()
	w.stop(t)
	awaitSessions(t, grid, 0)

	// A command that runs a program opens a session for it, and ends it after it.
	text := output(t, dir, append(append([]string{"run", "--workspace", shop}, flags...), "--", "sh", "-c",
		`curl -sf "$BROWSER_COORDINATOR_CDP_ENDPOINT/json/version"`)...)
	if !strings.Contains(text, "webSocketDebuggerUrl") {
		t.Errorf("the program: %s", text)
	}
	awaitSessions(t, grid, 0)

	// Without a hub, a window and its agent wait for events, as TestSurvivorsAreIdle has it
	// for other peers.
	scene := newScene(t, "hub")
	cmd := scene.command(append([]string{"window"}, flags...)...)
	firstLine(t, cmd)
	t.Cleanup(func() { scene.kill(cmd) })
	scene.survives("window", cmd)
	scene.survives("agent", scene.agent())
	grid.KillHub()
	requireIdle(t, scene.survivors)
}
