// Package added runs another MCP server that works on the same browser, and lists its
// tools with ours.
package added

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"browser-coordinator/coordinator/group"
)

// Options configure an added server.
type Options struct {
	// Command starts the server over stdio. Required.
	Command []string
	// Env is the server's environment; nil: that of this process.
	Env []string
	// Cache is a file with the list of the server's tools, so that the server starts only
	// when one of them is called; empty: none.
	Cache string
	// Stderr receives the server's standard error; nil discards.
	Stderr io.Writer
}

const (
	// startTimeout bounds the start of an added server: npx may have to install it.
	startTimeout = 2 * time.Minute
	// endTimeout is the grace period after the server's input has ended, and again after a
	// signal. Then the server is killed. All of this must take less than 2 s.
	endTimeout = 500 * time.Millisecond
)

// Host is the MCP server that offers the tools.
type Host struct {
	MCP     *mcp.Server
	Version string
	Logger  *slog.Logger
	// Taken reports whether the host itself has a tool of that name.
	Taken func(name string) bool
	// Handle returns the handler of a tool's calls, which uses call.
	Handle func(tool *mcp.Tool, call Call) mcp.ToolHandler
}

// Call calls a tool of the added server, and starts the server if it does not run.
type Call func(ctx context.Context, tool string, arguments json.RawMessage) (*mcp.CallToolResult, error)

// Server runs an added server when it is needed, and restarts it after it has died.
type Server struct {
	host    Host
	options Options
	log     *slog.Logger
	ctx     context.Context // ends with Close
	end     context.CancelFunc
	ended   sync.WaitGroup // wait

	starts  singleflight.Group
	mu      sync.Mutex         // guards the fields that follow
	session *mcp.ClientSession // nil: it does not run
	listed  bool
	failed  error // of the last start; nil: it succeeded
	offered []*mcp.Tool
}

// New returns an added server, which starts when it is first needed. Close ends it.
func New(host Host, o Options) *Server {
	a := &Server{host: host, options: o, log: host.Logger.With("server", o.Command[0])}
	a.ctx, a.end = context.WithCancel(context.Background())
	if cached, err := os.ReadFile(o.Cache); err == nil {
		var list []*mcp.Tool
		if json.Unmarshal(cached, &list) == nil && len(list) > 0 {
			a.offer(list)
		}
	}
	return a
}

// List is the middleware that adds the server's tools to the first response to
// tools/list: hosts request the list only once.
func (a *Server) List(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if listed, _ := a.listing(); method == "tools/list" && !listed {
			if _, err := a.start(ctx); err != nil {
				a.log.Error("the added server's tools are missing", "error", err)
			}
		}
		result, err := next(ctx, method, req)
		call, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if _, failed := a.listing(); ok && err != nil && failed != nil && !a.host.Taken(call.Name) { // the tool is unknown
			err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%v: the added server's tools are missing: %v", err, failed)}
		}
		return result, err
	}
}

// listing reports whether the server's tools are listed, and why its last start has
// failed.
func (a *Server) listing() (listed bool, failed error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.listed, a.failed
}

// start returns the running server's session, and starts the server if it does not run.
// The start continues when its call is cancelled: the next call needs it too.
func (a *Server) start(ctx context.Context) (*mcp.ClientSession, error) {
	select {
	case started := <-a.starts.DoChan("", a.run):
		session, _ := started.Val.(*mcp.ClientSession)
		return session, started.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run starts the server, unless it runs. Close waits for it.
func (a *Server) run() (any, error) {
	a.mu.Lock()
	session := a.session
	a.mu.Unlock()
	if session != nil {
		return session, nil
	}
	if a.ctx.Err() != nil {
		return nil, errors.New("this session has ended")
	}
	session, err := a.connect()
	if err != nil {
		err = fmt.Errorf("start %s: %w", a.options.Command[0], err) // its arguments may hold a token
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session, a.failed = session, err
	return session, err
}

func (a *Server) connect() (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(a.ctx, startTimeout)
	defer cancel()
	cmd := exec.Command(a.options.Command[0], a.options.Command[1:]...)
	cmd.Env, cmd.Stderr = a.options.Env, a.options.Stderr
	processes, err := group.New(cmd)
	if err != nil {
		return nil, err
	}
	transport := &groupTransport{mcp.CommandTransport{Command: cmd, TerminateDuration: endTimeout}, processes}
	client := mcp.NewClient(&mcp.Implementation{Name: "browser-coordinator", Version: a.host.Version}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		a.killAll(cmd, processes)
		return nil, err
	}
	a.ended.Go(func() { a.wait(session, cmd, processes) })
	var list []*mcp.Tool
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			session.Close()
			return nil, fmt.Errorf("list its tools: %w", err)
		}
		list = append(list, tool)
	}
	a.offer(list)
	a.keep(list)
	return session, nil
}

// groupTransport starts a command in a group of its own.
type groupTransport struct {
	mcp.CommandTransport
	group *group.Group
}

func (t *groupTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.CommandTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.group.Started(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// killAll ends the processes that an ended server has started: npx starts a shell, and
// the shell starts the server.
func (a *Server) killAll(cmd *exec.Cmd, processes *group.Group) {
	defer processes.Close()
	if cmd.Process == nil { // it could not be started
		return
	}
	if err := processes.Kill(); err != nil {
		a.log.Debug("what the added server had started was not ended", "error", err)
	}
}

// wait notes the end of a session, so that the next call starts a new one.
func (a *Server) wait(session *mcp.ClientSession, cmd *exec.Cmd, processes *group.Group) {
	err := session.Wait()
	a.killAll(cmd, processes)
	if a.forget(session) {
		a.log.Warn("the added server ended; the next call of one of its tools starts it anew", "error", err)
	}
}

// forget drops a session that has ended. It reports whether that is unexpected: the
// session was the current one, and Close was not called.
func (a *Server) forget(session *mcp.ClientSession) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != session {
		return false
	}
	a.session = nil
	return a.ctx.Err() == nil
}

// offer adds the tools to our list, except those whose names are taken.
func (a *Server) offer(list []*mcp.Tool) {
	a.mu.Lock()
	former := a.offered
	a.offered, a.listed = nil, true
	var taken []string
	for _, tool := range list {
		if a.host.Taken(tool.Name) {
			taken = append(taken, tool.Name)
			continue
		}
		a.offered = append(a.offered, tool)
	}
	offered := a.offered
	a.mu.Unlock()
	if len(taken) > 0 {
		a.log.Info("these tools of the added server are left out, since ours have their names", "tools", strings.Join(taken, ", "))
	}
	if sameTools(former, offered) {
		return
	}
	var gone []string
	for _, tool := range former {
		if !slices.ContainsFunc(offered, func(t *mcp.Tool) bool { return t.Name == tool.Name }) {
			gone = append(gone, tool.Name)
		}
	}
	a.host.MCP.RemoveTools(gone...)
	for _, tool := range offered {
		a.host.MCP.AddTool(tool, a.host.Handle(tool, a.call))
	}
}

func sameTools(a, b []*mcp.Tool) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && string(one) == string(other)
}

// keep saves the list for the next session. One that is read while it is written counts
// as none.
func (a *Server) keep(list []*mcp.Tool) {
	if a.options.Cache == "" {
		return
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.options.Cache), 0o700)
	}
	if err == nil {
		err = os.WriteFile(a.options.Cache, text, 0o600)
	}
	if err != nil {
		a.log.Warn("the list of the added server's tools could not be kept", "error", err)
	}
}

func (a *Server) call(ctx context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	session, err := a.start(ctx)
	if err != nil {
		return nil, err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		a.forget(session)
		return nil, fmt.Errorf("%s ended during the call; whether it was done is not known. The next call starts it anew", a.options.Command[0])
	}
	return result, err
}

// Close ends the added server, and waits for its end.
func (a *Server) Close() {
	a.end()
	if session, err := a.start(context.Background()); err == nil { // it runs, or was about to
		if err := session.Close(); err != nil {
			a.log.Debug("the added server did not end well", "error", err)
		}
	}
	a.ended.Wait()
}
