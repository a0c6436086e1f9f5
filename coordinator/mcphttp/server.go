// Package mcphttp serves MCP over streamable HTTP on loopback, for hosts that cannot start a
// program: many sessions at once, each with an agent of its own. The protocol is the MCP SDK's;
// this package admits the requests, and begins and ends the sessions.
package mcphttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/cdpproxy/guard"
	"browser-coordinator/cdpproxy/peer"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
)

// Path is where MCP is served.
const Path = "/mcp"

// sessionID is the header that names a session.
const sessionID = "Mcp-Session-Id"

const (
	idleTimeout   = 30 * time.Minute // without a request
	headerTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second
	endTimeout    = 5 * time.Second
	mostHeaders   = 64 << 10 // bytes
	mostBody      = 16 << 20 // bytes, as over stdio
	mostFirst     = 1 << 20  // bytes of the body that begins a session
	mostSessions  = 64
	mostAdmitted  = 512 // connections: of each session a stream of events, and several calls
)

// Options of a server. All are required.
type Options struct {
	// Token is what every request must have.
	Token string
	// Open makes the server of a session. end ends what its agent has besides: a private browser.
	Open   func() (server *tools.Server, end func() error, err error)
	Logger *slog.Logger

	idle   time.Duration // for tests; 0: idleTimeout
	header time.Duration // for tests; 0: headerTimeout
	body   time.Duration // for tests; 0: bodyTimeout
}

// Server serves sessions.
type Server struct {
	Options
	sdk     *mcp.StreamableHTTPHandler
	pages   guard.Pages
	ctx     context.Context // of all sessions
	running sync.WaitGroup  // the sessions

	mu       sync.Mutex // guards the fields that follow, and those of the sessions
	sessions int        // also those that begin or end
	byID     map[string]*session
}

// The causes of an end.
var (
	errDeleted = errors.New("its host has ended it")
	errIdle    = errors.New("it was idle")
	errGone    = errors.New("its host has closed the connection")
	errFailed  = errors.New("it was not initialized")
	errStopped = errors.New("the coordinator is ending")
)

// New makes a server.
func New(o Options) *Server {
	s := &Server{Options: o, pages: guard.Pages{Prints: "coordinator mcp --listen"},
		byID: map[string]*session{}}
	s.sdk = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		accepts, _ := r.Context().Value(acceptor{}).(*mcp.Server) // nil: only a new session needs it
		return accepts
	}, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: mostBody})
	return s
}

// acceptor is the key of the server that a new session gets, in the request's context.
type acceptor struct{}

// Serve serves sessions at a listener until ctx ends, and ends them all.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// The sessions outlive ctx: they end with their own cause.
	sessions, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.ctx = sessions
	end := func(cause error) { // none begins after it
		s.mu.Lock()
		defer s.mu.Unlock()
		cancel(cause)
	}
	conns := peer.Connections{Admitted: mostAdmitted}
	server := &http.Server{Handler: s, ReadHeaderTimeout: cmp.Or(s.header, headerTimeout), MaxHeaderBytes: mostHeaders,
		ConnState: conns.Watch, DisableGeneralOptionsHandler: true, // as in cdpproxy
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug)}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end(errStopped)
		conns.Stop()
		s.running.Wait()
		ending, done := context.WithTimeout(context.Background(), endTimeout)
		defer done()
		stopped <- errors.Join(server.Shutdown(ending), server.Close())
	})
	err := server.Serve(listener)
	if stop() { // it has failed by itself
		end(err)
		s.running.Wait()
		return err
	}
	if err := <-stopped; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// ServeHTTP admits a request, and has its session or the SDK answer it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal := s.pages.Refusal(r); refusal != "" {
		s.refuse(w, r, http.StatusForbidden, refusal)
		return
	}
	if !guard.HasBearer(r, s.Token) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="browser-coordinator"`)
		s.refuse(w, r, http.StatusUnauthorized, "token missing or wrong: send the header \"Authorization: Bearer TOKEN\". "+
			"The token is in the file that `coordinator mcp --listen` names when it starts.")
		return
	}
	if r.URL.Path != Path {
		s.refuse(w, r, http.StatusNotFound, "no such path: MCP is served at "+Path+".")
		return
	}
	id := r.Header.Get(sessionID)
	limit := int64(mostBody)
	if id == "" {
		limit = mostFirst
	}
	if r.Body != http.NoBody && !s.readBody(w, r, limit) {
		return
	}
	if id == "" && r.Method == http.MethodPost {
		s.begin(w, r)
		return
	}
	s.mu.Lock()
	opened := s.byID[id]
	s.mu.Unlock()
	switch {
	case opened == nil || !opened.use():
		if id != "" {
			s.refuse(w, r, http.StatusNotFound, "this session has ended: begin a new one with initialize.")
			return
		}
	case r.Method == http.MethodDelete:
		opened.cancel(errDeleted)
		opened.release()
		<-opened.done
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		defer opened.release()
	}
	s.sdk.ServeHTTP(w, r)
}

// readBody reads the body of a request, so that a slow one has no session meanwhile. False: the
// request is refused.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) bool {
	timeout := cmp.Or(s.body, bodyTimeout)
	body, err := guard.Body(w, r, limit, timeout)
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		s.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d MB: send less.",
			limit>>20))
		return false
	case err != nil:
		s.refuse(w, r, http.StatusRequestTimeout, fmt.Sprintf("the body did not come within %v: send it again.", timeout))
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// refuse refuses a request, and closes its connection.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	s.Logger.Debug("request refused", "client", r.RemoteAddr, "status", status, "why", text)
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // its body is of no interest
	http.Error(w, text, status)
}

// begin begins a session, if the request is the one that does.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	opened, err := s.open()
	if err != nil {
		s.refuse(w, r, http.StatusServiceUnavailable, err.Error())
		return
	}
	accepts := opened.server.Accept(opened.connected)
	s.sdk.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), acceptor{}, accepts)))
	s.mu.Lock()
	failed := opened.mcp == nil // also where a host only asks what the server is
	s.mu.Unlock()
	if failed {
		opened.cancel(errFailed)
		<-opened.done
	}
	opened.release()
}

// open opens a session, which is in use.
func (s *Server) open() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return nil, context.Cause(s.ctx)
	case len(s.byID) >= mostSessions, s.sessions >= 2*mostSessions:
		return nil, fmt.Errorf("%d sessions are open, and no more are accepted: close some hosts, or wait until idle "+
			"sessions have ended", mostSessions)
	}
	server, end, err := s.Open()
	if err != nil {
		return nil, err
	}
	opened := &session{parent: s, server: server, requests: 1, ready: make(chan struct{}), done: make(chan struct{})}
	opened.ctx, opened.cancel = context.WithCancelCause(s.ctx)
	s.sessions++
	a, endAgent := server.Open(context.WithoutCancel(s.ctx), "", "")
	s.running.Go(func() { opened.run(a, endAgent, end) })
	return opened, nil
}

// Unlisted are the agents that no window lists.
func (s *Server) Unlisted(ctx context.Context) (all []agent.Unlisted) {
	s.mu.Lock()
	var servers []*tools.Server
	for _, opened := range s.byID {
		servers = append(servers, opened.server)
	}
	s.mu.Unlock()
	for _, server := range servers {
		all = append(all, server.Unlisted(ctx)...)
	}
	return all
}
