package tools

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

	"browser-coordinator/coordinator/group"
	"browser-coordinator/policy"
)

// Added is another MCP server that works on the same browser: its tools are
// offered beside ours, under their own names.
type Added struct {
	// Command starts it over stdio. Required.
	Command []string
	// Env is its environment; nil: that of this process.
	Env []string
	// Cache is a file that keeps the list of its tools, so that it need not be
	// started before one of them is called; empty: none.
	Cache string
	// Stderr is where its standard error goes; nil discards.
	Stderr io.Writer
}

const (
	// addedStart bounds the start of an added server: npx may have to install it.
	addedStart = 2 * time.Minute
	// addedEnd is how long it has to end when its input does, and once more when
	// it is asked to by a signal; then it is killed. All must be over in 2 s.
	addedEnd = 500 * time.Millisecond
)

// addedServer runs an added server when it is needed, and again when it has died.
type addedServer struct {
	server  *Server
	options Added
	log     *slog.Logger
	ctx     context.Context // ends with close
	end     context.CancelFunc
	ended   sync.WaitGroup // run and wait

	mu       sync.Mutex     // guards the fields that follow
	starting *addedStarting // nil: it is not being started
	session  *mcp.ClientSession
	listed   bool
	failed   error // why the last start did; nil: it did not
	offered  []*mcp.Tool
	closed   bool
}

// addedStarting is a start under way, which all calls that need it wait for.
type addedStarting struct {
	done    chan struct{} // closed when the fields that follow are set
	session *mcp.ClientSession
	err     error
}

func newAddedServer(s *Server, o Added) *addedServer {
	a := &addedServer{server: s, options: o, log: s.options.Logger.With("server", o.Command[0])}
	a.ctx, a.end = context.WithCancel(context.Background())
	if cached, err := os.ReadFile(o.Cache); err == nil {
		var list []*mcp.Tool
		if json.Unmarshal(cached, &list) == nil && len(list) > 0 {
			a.offer(list)
			a.listed = true
		}
	}
	return a
}

// list is the middleware that has the added server's tools in the first answer
// to tools/list: hosts ask once.
func (a *addedServer) list(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" && !a.isListed() {
			if _, err := a.start(ctx); err != nil {
				a.log.Error("the added server's tools are missing", "error", err)
			}
		}
		result, err := next(ctx, method, req)
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && err != nil && a.server.tools[call.Name] == nil {
			err = a.missing(err)
		}
		return result, err
	}
}

// missing adds to the error for a tool that is not known why the added server's
// tools are not.
func (a *addedServer) missing(err error) error {
	a.mu.Lock()
	failed := a.failed
	a.mu.Unlock()
	if failed == nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%v: the added server's tools are missing: %v", err, failed)}
}

func (a *addedServer) isListed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.listed
}

// start returns the running server's session, which it starts if need be. The
// start goes on when the call that wanted it is cancelled: the next one wants it
// too.
func (a *addedServer) start(ctx context.Context) (*mcp.ClientSession, error) {
	a.mu.Lock()
	if a.session != nil || a.closed {
		defer a.mu.Unlock()
		if a.closed {
			return nil, errors.New("this session has ended")
		}
		return a.session, nil
	}
	starting := a.starting
	if starting == nil {
		starting = &addedStarting{done: make(chan struct{})}
		a.starting = starting
		a.ended.Add(1)
		go a.run(starting)
	}
	a.mu.Unlock()
	select {
	case <-starting.done:
		return starting.session, starting.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run starts it.
func (a *addedServer) run(starting *addedStarting) {
	defer a.ended.Done()
	defer close(starting.done)
	session, err := a.connect()
	if err != nil {
		err = fmt.Errorf("start %s: %w", a.options.Command[0], err) // its arguments may hold a token
	}
	starting.session, starting.err = session, err
	a.mu.Lock()
	a.starting, a.session, a.failed = nil, session, err
	closed := a.closed
	a.mu.Unlock()
	if closed && session != nil {
		session.Close()
	}
}

func (a *addedServer) connect() (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(a.ctx, addedStart)
	defer cancel()
	cmd := exec.Command(a.options.Command[0], a.options.Command[1:]...)
	cmd.Env, cmd.Stderr = a.options.Env, a.options.Stderr
	processes, err := group.New(cmd)
	if err != nil {
		return nil, err
	}
	transport := &groupTransport{mcp.CommandTransport{Command: cmd, TerminateDuration: addedEnd}, processes}
	client := mcp.NewClient(&mcp.Implementation{Name: "browser-coordinator", Version: a.server.options.Version}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		a.killAll(cmd, processes)
		return nil, err
	}
	a.ended.Add(1)
	go a.wait(session, cmd, processes)
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

// killAll ends what an added server that has ended had started: npx starts a
// shell, and that the server.
func (a *addedServer) killAll(cmd *exec.Cmd, processes *group.Group) {
	defer processes.Close()
	if cmd.Process == nil { // it could not be started
		return
	}
	if err := processes.Kill(); err != nil {
		a.log.Debug("what the added server had started was not ended", "error", err)
	}
}

// wait notes the end of a session, so that the next call starts another.
func (a *addedServer) wait(session *mcp.ClientSession, cmd *exec.Cmd, processes *group.Group) {
	defer a.ended.Done()
	err := session.Wait()
	a.killAll(cmd, processes)
	if a.forget(session) {
		a.log.Warn("the added server ended; the next call of one of its tools starts it anew", "error", err)
	}
}

// forget drops a session that has ended, and says whether that is news.
func (a *addedServer) forget(session *mcp.ClientSession) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != session {
		return false
	}
	a.session = nil
	return !a.closed
}

// offer puts the tools into our list, but for those whose names are taken.
func (a *addedServer) offer(list []*mcp.Tool) {
	a.mu.Lock()
	former := a.offered
	a.offered, a.listed = nil, true
	var taken []string
	for _, tool := range list {
		if a.server.tools[tool.Name] != nil {
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
	a.server.mcp.RemoveTools(gone...)
	for _, tool := range offered {
		a.server.mcp.AddTool(tool, a.handler(tool))
	}
}

func sameTools(a, b []*mcp.Tool) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && string(one) == string(other)
}

// keep saves the list for the next session.
func (a *addedServer) keep(list []*mcp.Tool) {
	if a.options.Cache == "" {
		return
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.options.Cache), 0o700)
	}
	if err == nil {
		err = writeByRename(a.options.Cache, text)
	}
	if err != nil {
		a.log.Warn("the list of the added server's tools could not be kept", "error", err)
	}
}

func writeByRename(name string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".list-")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// handler passes a call on. What the tool does in the browser it does as a CDP
// client of the endpoint, where the window's access mode is kept.
func (a *addedServer) handler(tool *mcp.Tool) mcp.ToolHandler {
	known := *tool
	if known.Annotations == nil {
		known.Annotations = &mcp.ToolAnnotations{Title: tool.Name}
	}
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		began, agent := time.Now(), a.server.agent(req.Session)
		if question := agent.askRoots(req); question != nil {
			return question, nil
		}
		defer agent.keepInformed(ctx, req)()
		c := call{tool: &known, in: req.Params.Arguments, operation: policy.AddedTool(tool.Name)}
		_, source, err := agent.permit(ctx, c)
		var result *mcp.CallToolResult
		if err == nil {
			stoppable, release := agent.untilStopped(ctx, source, c)
			result, err = a.call(stoppable, tool.Name, req.Params.Arguments)
			if release(); err != nil && context.Cause(stoppable) != nil {
				err = context.Cause(stoppable)
			}
		}
		agent.tell(source, c, began, err)
		if err != nil {
			result = &mcp.CallToolResult{}
			result.SetError(err)
		}
		return result, nil
	}
}

func (a *addedServer) call(ctx context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
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

// close ends the added server, and waits for its end.
func (a *addedServer) close() {
	a.mu.Lock()
	a.closed = true
	session := a.session
	a.mu.Unlock()
	a.end()
	if session != nil {
		if err := session.Close(); err != nil {
			a.log.Debug("the added server did not end well", "error", err)
		}
	}
	a.ended.Wait()
}
