// Package tools is the coordinator's MCP surface: it validates an agent's calls, calls
// the registry and the page, and builds a small answer.
//
//	server := tools.NewServer(tools.Options{Options: agent.Options{Windows: windows, Dir: dir}})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// Each call resolves its window again. Names and parameters are Playwright MCP's where
// the same thing exists there (adr/0010). Every tool is available from the first message.
//
// The package does not find windows, use CDP, or select one of several windows. It starts
// a browser only through its Launcher.
package tools

import (
	"cmp"
	"context"
	_ "embed"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/internal/notify"
)

// Options of a server.
type Options struct {
	agent.Options
	// Caps are the names of the enabled sets of tools besides the default ones, as CheckCaps
	// allows them.
	Caps []string
}

// Server is the MCP server of one agent's session.
type Server struct {
	options Options
	mcp     *mcp.Server
	calls   context.Context // of all calls: it ends with that of Run
	cancel  context.CancelCauseFunc

	mu      sync.Mutex // guards the fields that follow
	agent   *agent.Agent
	roots   *hostRoots       // nil: the session was opened with its folder
	running int              // calls
	ended   notify.Broadcast // when none runs
}

//go:embed prompts/instructions.md
var instructions string

// NewServer makes an MCP server with every tool. Its session ends with the transport, and
// its browser connections with the session.
func NewServer(o Options) *Server {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Record = slices.Contains(o.Caps, "testing")
	s := &Server{options: o}
	s.calls, s.cancel = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{
		Name: "browser-coordinator", Title: "Browser Coordinator", Version: o.Version,
	}, &mcp.ServerOptions{
		Instructions: strings.Join(strings.Fields(instructions), " "),
		Logger:       o.Logger,
		//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
		RootsListChangedHandler: func(_ context.Context, req *mcp.RootsListChangedRequest) {
			_, roots := s.sessionOf(req.Session)
			roots.forget()
		},
		Capabilities: &mcp.ServerCapabilities{
			//lint:ignore SA1019 hosts that show a server's log will do so for years
			Logging: &mcp.LoggingCapabilities{},
			Tools:   &mcp.ToolCapabilities{},
		},
	})
	if o.Secrets != nil {
		s.mcp.AddReceivingMiddleware(hiding(o.Secrets))
		s.mcp.AddSendingMiddleware(hiding(o.Secrets))
	}
	listed := map[string]*Tool{}
	s.mcp.AddReceivingMiddleware(s.prepare, listing(listed))
	for _, t := range All() {
		if t.Set == "" || slices.Contains(o.Caps, t.Set) {
			listed[t.Name] = t
			// The SDK lists and validates nothing: listing does, and the handler.
			s.mcp.AddTool(&mcp.Tool{Name: t.Name, InputSchema: anObject}, s.handler(t))
		}
	}
	s.addResources()
	s.addPrompts()
	return s
}

// handler handles the calls of a tool.
func (s *Server) handler(t *Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, roots := s.sessionOf(req.Session)
		if request := roots.request(req); request != nil {
			return request, nil
		}
		result, err := t.Call(ctx, a, req.Params.Arguments)
		if err != nil {
			failed := &mcp.CallToolResult{Meta: mcp.Meta{Failure: answer.Invalid}}
			failed.SetError(err)
			return failed, nil
		}
		return resultOf(result), nil
	}
}

// fromPage is the mark of content that holds a page's text or picture, so that a host can
// treat it as untrusted.
const fromPage = "browser-coordinator/from-page"

// Failure is the member of a result's metadata that has the kind of the failure, an
// [answer.Failure].
const Failure = "browser-coordinator/failure"

// Files is the member of a result's metadata that has the paths of the files that were saved.
const Files = "browser-coordinator/files"

// Whole is the member of a result's metadata that has the text without its cuts, if it is cut.
const Whole = "browser-coordinator/whole"

func markOf(isFromPage bool) mcp.Meta {
	if isFromPage {
		return mcp.Meta{fromPage: true}
	}
	return nil
}

// resultOf is a result of a tool in MCP's form.
func resultOf(r *answer.Result) *mcp.CallToolResult {
	res := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: r.Failure.IsError()}
	for _, p := range r.Passages {
		res.Content = append(res.Content, &mcp.TextContent{Text: p.Text, Meta: markOf(p.FromPage)})
	}
	for _, p := range r.Pictures {
		res.Content = append(res.Content, &mcp.ImageContent{Data: p.Data, MIMEType: p.MIMEType, Meta: markOf(true)})
	}
	if r.Data != nil {
		res.StructuredContent = r.Data
	}
	if r.Data != nil || res.IsError {
		res.Meta = markOf(r.FromPage())
	}
	note := func(name string, value any) {
		if res.Meta == nil {
			res.Meta = mcp.Meta{}
		}
		res.Meta[name] = value
	}
	if r.Failure != "" {
		note(Failure, r.Failure)
	}
	if len(r.Files) > 0 {
		note(Files, r.Files)
	}
	if r.Whole != "" {
		note(Whole, r.Whole)
	}
	return res
}

// Run serves one MCP session on the transport until it ends or ctx does, and
// closes the connections that it opened.
func (s *Server) Run(ctx context.Context, transport mcp.Transport) error {
	session, err := s.mcp.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	a, _ := s.sessionOf(session)
	defer s.follow(ctx, a)()
	return s.Wait(ctx, session)
}

// Open makes the agent of a session with that name, or, if that is empty, with its first host's.
// The connections of its host come and go (Join, Accept); its folder is Dir. It ends with end,
// which first ends the calls with the cause, and awaits them: one that connects to a browser leaves no
// connection behind.
func (s *Server) Open(ctx context.Context, name, version string) (a *agent.Agent, end func(cause error)) {
	a = agent.New(&s.options.Options, agent.Host{})
	if name != "" {
		a.Identify(name, version)
	}
	s.mu.Lock()
	s.agent = a
	s.mu.Unlock()
	stop := s.follow(ctx, a)
	return a, func(cause error) {
		s.cancel(cause)
		s.awaitCalls()
		stop()
	}
}

// callsTimeout bounds how long calls take to end once they are cancelled.
const callsTimeout = 5 * time.Second

// begin counts a call; false: the calls have been cancelled.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls.Err() != nil {
		return false
	}
	s.running++
	return true
}

// finish counts the end of a call.
func (s *Server) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 {
		s.ended.Notify()
	}
}

// awaitCalls waits until the calls that were cancelled have ended.
func (s *Server) awaitCalls() {
	s.mu.Lock()
	running, ended := s.running, s.ended.Next()
	s.mu.Unlock()
	if running == 0 {
		return
	}
	select {
	case <-ended:
	case <-time.After(callsTimeout):
		s.options.Logger.Error("a call goes on after the end of its session", "calls", running)
	}
}

// Join serves a connection of the session that Open has opened, until it ends or ctx does.
func (s *Server) Join(ctx context.Context, transport mcp.Transport) error {
	session, err := s.mcp.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	return s.Wait(ctx, session)
}

// Accept is the protocol's side of the session that Open has opened, for a transport that connects
// it. connected is called with the connection before its host gets the first response; Wait waits
// for its end.
func (s *Server) Accept(connected func(*mcp.ServerSession)) *mcp.Server {
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if session, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" && err == nil {
				connected(session)
			}
			return result, err
		}
	})
	return s.mcp
}

// follow has the agent follow its window until end is called, which ends the agent.
func (s *Server) follow(ctx context.Context, a *agent.Agent) (end func()) {
	following, stop := context.WithCancel(ctx)
	var followed sync.WaitGroup
	followed.Go(func() { a.Follow(following) })
	return func() {
		stop()
		followed.Wait()
		a.End()
	}
}

// Wait waits for the end of a connection, which is also that of ctx.
func (s *Server) Wait(ctx context.Context, session *mcp.ServerSession) error {
	defer context.AfterFunc(ctx, func() {
		s.cancel(context.Cause(ctx)) // Close waits for the calls
		session.Close()
	})()
	if err := session.Wait(); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// OnResult calls see with each result of a tool, as the host gets it.
func (s *Server) OnResult(see func(*mcp.CallToolResult)) {
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if of, ok := result.(*mcp.CallToolResult); ok && err == nil {
				see(of)
			}
			return result, err
		}
	})
}

// AddMethod adds a method of this program to the protocol.
func AddMethod[P interface {
	mcp.Params
	*T
}, R mcp.Result, T any](s *Server, name string, handle func(context.Context, P) (R, error)) error {
	return mcp.AddReceivingCustomMethod(s.mcp, name, func(ctx context.Context, _ *mcp.ServerSession, p P) (R, error) {
		return handle(ctx, p)
	})
}

// sessionOf is the agent of the session, and its host's roots. A message may come before Run
// knows the session. The agent knows its host with the notification "initialized" or, from
// protocol 2026-07-28 on, with the first message: windows list it from then on, by the name by
// which their users stop it.
func (s *Server) sessionOf(session *mcp.ServerSession) (*agent.Agent, *hostRoots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agent == nil {
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		log := mcp.NewLoggingHandler(session, &mcp.LoggingHandlerOptions{LoggerName: "browser-coordinator"})
		s.roots = &hostRoots{session: session}
		s.agent = agent.New(&s.options.Options, agent.Host{Log: log, Roots: s.roots.get})
		s.roots.log, s.roots.changed = s.agent.Log, s.agent.ResolveAgain
	}
	if init := session.InitializeParams(); init != nil {
		if host := init.ClientInfo; host != nil {
			s.agent.Identify(cmp.Or(host.Title, host.Name), host.Version)
		} else {
			s.agent.Identify("", "")
		}
	}
	return s.agent, s.roots
}

// Unlisted returns the agent if no window lists it.
func (s *Server) Unlisted(ctx context.Context) []agent.Unlisted {
	s.mu.Lock()
	a := s.agent
	s.mu.Unlock()
	if a != nil {
		if unlisted := a.Unlisted(ctx); unlisted != nil {
			return []agent.Unlisted{*unlisted}
		}
	}
	return nil
}

// prepare is the middleware for what all messages, and all calls of tools, have in common.
func (s *Server) prepare(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		session, ok := req.GetSession().(*mcp.ServerSession)
		if !ok || method == "initialize" {
			return next(ctx, method, req)
		}
		s.sessionOf(session)
		defer s.sessionOf(session) // the host's first message has been read
		if call, ok := req.(*mcp.CallToolRequest); ok {
			if !s.begin() {
				return nil, context.Cause(s.calls)
			}
			defer s.finish()
			var cancel context.CancelCauseFunc
			ctx, cancel = context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(s.calls, func() { cancel(context.Cause(s.calls)) })()
			defer s.startProgress(ctx, call)()
		}
		return next(ctx, method, req)
	}
}
