package toolstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/vscodeipc"
)

// Args are the arguments of a tool.
type Args = map[string]any

// Host identifies the host of every agent.
var Host = &mcp.Implementation{Name: "test-host", Version: "1"}

// Agent is a host's MCP session.
type Agent struct {
	*mcp.ClientSession
	t     testing.TB
	Dir   string          // the working directory
	ended <-chan struct{} // closed when the server has ended; nil: it has a process of its own
}

// Close ends the session, and waits for the end of its server.
func (a *Agent) Close() error {
	err := a.ClientSession.Close()
	if a.ended != nil {
		<-a.ended
	}
	return err
}

// NewAgent wraps a session of an agent in a folder.
func NewAgent(t testing.TB, session *mcp.ClientSession, dir string) *Agent {
	return &Agent{session, t, dir, nil}
}

// Start runs a server of the tools, with these sets of them beside the default ones, and
// connects an agent in the folder o.Dir to it.
func Start(t testing.TB, o agent.Options, caps ...string) *Agent {
	t.Helper()
	return StartWith(t, o, nil, "", caps...)
}

// StartWith is Start for a host with these options that speaks that version of the
// protocol; empty means the newest.
func StartWith(t testing.TB, o agent.Options, host *mcp.ClientOptions, protocol string, caps ...string) *Agent {
	t.Helper()
	started, _ := StartClient(t, o, host, protocol, func(*mcp.Client) {}, caps...)
	return started
}

// StartClient is StartWith for a host that is prepared before it connects.
func StartClient(t testing.TB, o agent.Options, host *mcp.ClientOptions, protocol string, prepare func(*mcp.Client),
	caps ...string) (*Agent, *mcp.Client) {
	t.Helper()
	windows := registry.Open(t.Context(),
		registry.Options{Client: vscodeipc.Peer{Name: "coordinator", Version: "test"}})
	o.Windows, o.Version, o.Claims = windows, "test", claim.NewPages(slog.New(slog.DiscardHandler))
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = tools.NewServer(tools.Options{Options: o, Caps: caps}).Run(ctx, there)
	}()
	client := mcp.NewClient(Host, host)
	prepare(client)
	session, err := client.Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		<-ended
		cancel()
		windows.Close()
	})
	return &Agent{session, t, o.Dir, ended}, client
}

// Call calls a tool and returns its text. An error of the tool is returned as an error.
func (a *Agent) Call(name string, args Args) (string, error) {
	a.t.Helper()
	parts, err := a.parts(name, args)
	return strings.Join(parts, ""), err
}

// parts calls a tool and returns the parts of its text, or an error of them all.
func (a *Agent) parts(name string, args Args) (parts []string, err error) {
	a.t.Helper()
	res, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, c.Text)
		}
	}
	if res.IsError {
		return nil, errors.New(strings.Join(parts, ""))
	}
	return parts, nil
}

// Must calls a tool, which must succeed, and returns its text.
func (a *Agent) Must(name string, args Args) string {
	a.t.Helper()
	text, err := a.Call(name, args)
	if err != nil {
		a.t.Fatalf("%s %v: %v", name, args, err)
	}
	return text
}

// Expect calls a tool, which must succeed with a text that contains these, and returns
// the text.
func (a *Agent) Expect(name string, args Args, want ...string) string {
	a.t.Helper()
	text := a.Must(name, args)
	for _, w := range want {
		if !strings.Contains(text, w) {
			a.t.Errorf("%s %v lacks %q: %.3000s", name, args, w, text)
		}
	}
	return text
}

// Refused calls a tool, which must return an error that contains these texts.
func (a *Agent) Refused(name string, args Args, want ...string) {
	a.t.Helper()
	text, err := a.Call(name, args)
	if err == nil {
		a.t.Errorf("%s %v is not refused: %.1000s", name, args, text)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			a.t.Errorf("%s %v: %q is not in: %v", name, args, w, err)
		}
	}
}

// Evaluate runs a function in the agent's page and returns its value as JSON, without what
// the answer says about the page.
func (a *Agent) Evaluate(function string) string {
	a.t.Helper()
	parts, err := a.parts("browser_evaluate", Args{"function": function})
	if err != nil || len(parts) == 0 {
		a.t.Fatalf("%s: %q %v", function, parts, err)
	}
	return parts[0]
}

// ExpectValue runs a function in the agent's page, whose value as JSON must be want.
func (a *Agent) ExpectValue(function, want string) {
	a.t.Helper()
	if got := a.Evaluate(function); got != want {
		a.t.Errorf("%s is %s, want %s", function, got, want)
	}
}

// Open navigates the agent's page.
func (a *Agent) Open(url string) string {
	a.t.Helper()
	return a.Must("browser_navigate", Args{"url": url})
}

// Ref is the ref of an element in a new snapshot of the page.
func (a *Agent) Ref(role, name string) string {
	a.t.Helper()
	return Ref(a.t, a.Must("browser_snapshot", nil), role, name)
}

// SelectTab makes the agent work in the tab on the line of the list for which is true.
func (a *Agent) SelectTab(is func(line string) bool) {
	a.t.Helper()
	list := a.Must("browser_tabs", Args{"action": "list"})
	for line := range strings.Lines(list) {
		if index, _, _ := strings.Cut(line, ":"); is(strings.TrimSpace(line)) {
			a.Must("browser_tabs", Args{"action": "select", "index": index})
			return
		}
	}
	a.t.Fatalf("no such tab: %s", list)
}

// ToolNames lists the tools.
func (a *Agent) ToolNames() (names []string) {
	a.t.Helper()
	for tool, err := range a.Tools(a.t.Context(), nil) {
		if err != nil {
			a.t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// Saved is where a tool saves a file of that name.
func (a *Agent) Saved(name string) string {
	return filepath.Join(a.Dir, ".browser-coordinator", name)
}

// Ref finds the ref of an element in a snapshot.
func Ref(t testing.TB, snapshot, role, name string) string {
	t.Helper()
	m := regexp.MustCompile(fmt.Sprintf(`%s "%s".*?\[ref=([^\]]+)\]`, role, name)).FindStringSubmatch(snapshot)
	if m == nil {
		t.Fatalf("no %s %q in\n%s", role, name, snapshot)
	}
	return m[1]
}
