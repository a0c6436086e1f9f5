package vscodeipc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/usersocket"
	"browser-coordinator/vscodeipc/internal/socket"
)

// Call is one call of a command.
type Call struct {
	Command string
	Arg     json.RawMessage // nil when left out
	// Connection ends with the client's connection. It is the same one for all of its calls.
	Connection context.Context
}

// Handler runs a command. The context ends when the client cancels the call or
// disconnects, and when the server closes. The result must encode to JSON. An [Error]
// chooses the code that the client sees; any other error is "internal".
type Handler func(ctx context.Context, call Call) (result any, err error)

// ServerOptions describes a window.
type ServerOptions struct {
	Server     ServerInfo // Name and Kind are required
	Workspace  string     // canonical path; empty for a window without a folder
	Folders    []string   // canonical paths
	Commands   map[string]Handler
	NoDeadline []string // commands that wait for the user; all others have 5 s
	Logger     *slog.Logger
}

// Server is a window. Its methods may be called from any goroutine.
type Server struct {
	hello   Hello // the constant members: all but Seq and State
	options ServerOptions
	log     *slog.Logger
	key     string
	ctx     context.Context // ends handlers and the accept loop
	cancel  context.CancelFunc
	owned   sync.WaitGroup // every goroutine of the server
	binding *socket.Binding

	// mu guards the fields that follow. Lock order: Server.mu, then serverConn.mu, then
	// outbox.mu.
	mu     sync.Mutex
	conns  map[*serverConn]struct{}
	state  State // its revision is the number of the last event
	closed bool
}

// Serve makes the calling process a window: it binds the workspace's address and serves
// until Close. The context limits the binding only.
func Serve(ctx context.Context, o ServerOptions) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, fmt.Errorf("serve a window: %w", err)
	}
	b, err := socket.Bind(ctx, s.key)
	if err != nil {
		s.cancel()
		return nil, fmt.Errorf("serve a window: %w", err)
	}
	s.binding = b
	s.owned.Add(1)
	go s.acceptLoop(b.Listener)
	return s, nil
}

func newServer(o ServerOptions) (*Server, error) {
	if o.Server.Name == "" || o.Server.Kind == "" {
		return nil, errors.New("ServerOptions needs the server's Name and Kind")
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	s := &Server{options: o, log: o.Logger, conns: map[*serverConn]struct{}{}, state: State{}.normal()}
	if s.log == nil {
		s.log = discard
	}
	s.hello = Hello{
		Version:   version,
		Server:    o.Server,
		Session:   hex.EncodeToString(random[:]),
		PID:       os.Getpid(),
		Workspace: o.Workspace,
		Folders:   append([]string{}, o.Folders...),
		Commands:  slices.AppendSeq([]string{}, maps.Keys(o.Commands)),
		Events:    []string{"state"},
	}
	slices.Sort(s.hello.Commands)
	s.key = "pid-" + strconv.Itoa(s.hello.PID)
	if o.Workspace != "" {
		s.key = Hash(o.Workspace)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Address returns where the window listens.
func (s *Server) Address() Address { return s.binding.Address }

// SetState sends the new state to all clients. The server counts the revision. A state
// that differs in nothing else sends no event. SetState takes ownership of the state.
func (s *Server) SetState(state State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state = state.normal()
	state.Revision = s.state.Revision
	if reflect.DeepEqual(state, s.state) {
		return nil
	}
	state.Revision++
	line, err := encodeEvent("state", state.Revision, state)
	switch {
	case s.closed:
		err = errClosed
	case err == nil && len(line) > maxState:
		err = fmt.Errorf("it has %d bytes, and a state has %d at most", len(line), maxState)
	case err == nil && max(len(state.DebugSessions), len(state.Pages), len(state.Access.Stopped)) > maxItems:
		err = fmt.Errorf("it has a list of more than %d items", maxItems)
	}
	if err != nil {
		return fmt.Errorf("set the window's state: %w", err)
	}
	s.state = state
	for c := range s.conns {
		if c.listening {
			c.out.send(line)
		}
	}
	return nil
}

// Close ends the window: it removes the address, as long as ctx allows, and sends bye to
// its clients. It waits for its goroutines, handlers included.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.cancel()

	err := s.binding.Unbind(ctx)
	s.mu.Lock()
	for c := range s.conns {
		c.out.finish(shutdown)
	}
	s.mu.Unlock()
	s.owned.Wait()
	if err != nil {
		return fmt.Errorf("close the window: %w", err)
	}
	return nil
}

// The last lines for clients.
var (
	shutdown    = encodeBye("shutdown", "the window closes")
	slowReader  = encodeBye("slow_reader", fmt.Sprintf("more than %d bytes wait for this client", maxWaiting))
	tooManyHere = encodeBye("too_many_connections", fmt.Sprintf("%d clients are connected already", maxConnections))
)

// acceptLoop is owned by the server and ends with its listener.
func (s *Server) acceptLoop(l net.Listener) {
	defer s.owned.Done()
	pauses := backoff.Backoff{First: 5 * time.Millisecond, Max: time.Second}
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pauses.Reset()
			s.admit(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Usually the process has no file descriptor left, until others are closed.
			s.log.Warn("window cannot accept a client", "error", err)
			if !pauses.Sleep(s.ctx) {
				return
			}
		}
	}
}

// admit accepts a client, or sends it the reason for a refusal.
func (s *Server) admit(conn net.Conn) {
	if err := usersocket.CheckPeer(conn); err != nil {
		s.log.Warn("window refuses a client", "error", err)
		conn.Close()
		return
	}
	c := newServerConn(s, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		c.out.finish(shutdown)
	case len(s.conns) >= maxConnections:
		c.out.finish(tooManyHere)
	default:
		s.conns[c] = struct{}{}
	}
	s.owned.Add(2)
	go c.writeLoop()
	go c.readLoop()
}

func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) helloAnswer() Hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hello
	h.Seq, h.State = s.state.Revision, s.state
	return h
}

func (s *Server) stateAnswer() stateAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return stateAnswer{s.hello.Session, s.state.Revision, s.state}
}

// listen subscribes a client and responds in one step. The client's next event is the
// one after the state in the response (spec 5, listen).
func (s *Server) listen(c *serverConn, r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.answer(r, stateAnswer{s.hello.Session, s.state.Revision, s.state})
	c.listening = true
}
