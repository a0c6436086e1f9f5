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

	"browser-coordinator/vscodeipc/internal/socket"
)

// Call is one call of a command.
type Call struct {
	Command string
	Arg     json.RawMessage // nil when left out
	Client  Peer            // from its hello; zero without one
}

// Handler runs a command. The context ends when the client cancels the call or
// disconnects, and when the server closes. The result must encode to JSON. An [Error]
// chooses the code that the client sees; any other error is "internal".
type Handler func(ctx context.Context, call Call) (result any, err error)

// ServerOptions describes a window.
type ServerOptions struct {
	Workspace  string   // canonical path; empty for a window without a folder
	Folders    []string // canonical paths
	Kind       string   // required: "vscode" or "terminal"
	Name       string   // required: the serving program
	Version    string   // its version
	Commands   map[string]Handler
	NoDeadline []string // commands that wait for the user; all others have 5 s
	Events     []string // further events for Emit; "state" is always there
	Logger     *slog.Logger
}

// Server is a window. Its methods may be called from any goroutine.
type Server struct {
	hello   Hello // the constant members: all but Seq and State
	options ServerOptions
	log     *slog.Logger
	key     string
	ctx     context.Context // ends handlers, the accept loop and the keeper
	cancel  context.CancelFunc
	owned   sync.WaitGroup // every goroutine of the server

	// mu guards the fields that follow. Lock order: Server.mu, then serverConn.mu, then
	// outbox.mu.
	mu      sync.Mutex
	bound   *socket.Binding
	conns   map[*serverConn]struct{}
	seq     int64
	state   State
	history history
	closed  bool
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
	s.bound = b
	s.owned.Add(2)
	go s.acceptLoop(b.Listener)
	go s.keepName()
	return s, nil
}

func newServer(o ServerOptions) (*Server, error) {
	if o.Name == "" || o.Kind == "" {
		return nil, errors.New("ServerOptions needs Name and Kind")
	}
	if slices.Contains(o.Events, "bye") {
		return nil, errors.New(`"bye" is no event to listen to`)
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	s := &Server{options: o, log: o.Logger, conns: map[*serverConn]struct{}{}, state: State{}.normal()}
	if s.log == nil {
		s.log = discard
	}
	s.hello = Hello{
		Server:   ServerInfo{o.Name, o.Version, o.Kind},
		Session:  hex.EncodeToString(random[:]),
		PID:      os.Getpid(),
		Folders:  append([]string{}, o.Folders...),
		Commands: slices.AppendSeq([]string{}, maps.Keys(o.Commands)),
		Events:   append([]string{"state"}, o.Events...),
	}
	slices.Sort(s.hello.Commands)
	s.key = "pid-" + strconv.Itoa(s.hello.PID)
	if o.Workspace != "" {
		s.hello.Workspace = &o.Workspace
		s.key = Hash(o.Workspace)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Address returns where the window listens now. It changes only if another process
// removes the window's name and another window has taken the name meanwhile.
func (s *Server) Address() Address {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.Address
}

// Session returns the random id of this window session.
func (s *Server) Session() string { return s.hello.Session }

// State returns the last state that was set, with its revision.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

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
	if err := s.emitLocked("state", state, &state); err != nil {
		return fmt.Errorf("set the window's state: %w", err)
	}
	s.state = state
	return nil
}

// Emit sends one of the events in ServerOptions to its subscribers.
func (s *Server) Emit(event string, payload any) error {
	if !slices.Contains(s.options.Events, event) {
		return fmt.Errorf("emit the event %q: the window does not offer it", event)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.emitLocked(event, payload, nil); err != nil {
		return fmt.Errorf("emit the event %q: %w", event, err)
	}
	return nil
}

// emitLocked sends an event; state is set if its payload is a state.
func (s *Server) emitLocked(event string, payload any, state *State) error {
	if s.closed {
		return ErrClosed
	}
	line, err := encodeEvent(event, s.seq+1, payload)
	switch {
	case err != nil:
		return err
	case state != nil && len(line) > maxState:
		return fmt.Errorf("it has %d bytes, and a state has %d at most", len(line), maxState)
	}
	s.seq++
	r := record{s.seq, event, line, state}
	s.history.add(r)
	for c := range s.conns {
		if version := c.listening[event]; version > 0 {
			c.out.send(r.in(version))
		}
	}
	return nil
}

// Close ends the window: it removes the address and sends bye to its clients. It waits
// for its goroutines, handlers included, until the context ends.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	bound := s.bound
	s.mu.Unlock()
	s.cancel()

	err := bound.Unbind(ctx)
	s.mu.Lock()
	for c := range s.conns {
		c.out.finish("shutdown", "the window closes")
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go s.waitOwned(ended)
	select {
	case <-ended:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("wait for the window's calls to end: %w", ctx.Err()))
	}
	if err != nil {
		return fmt.Errorf("close the window: %w", err)
	}
	return nil
}

// waitOwned returns when the last goroutine of the server has ended.
func (s *Server) waitOwned(ended chan<- struct{}) {
	s.owned.Wait()
	close(ended)
}

// acceptLoop is owned by the server and ends with its listener.
func (s *Server) acceptLoop(l net.Listener) {
	defer s.owned.Done()
	const longest = time.Second
	pause := 5 * time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			s.admit(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Usually the process has no file descriptor left, until others are closed.
			s.log.Warn("window cannot accept a client", "error", err, "again_in", pause)
			select {
			case <-time.After(pause):
				pause = min(2*pause, longest)
			case <-s.ctx.Done():
				return
			}
		}
	}
}

// admit accepts a client, or sends it the reason for a refusal.
func (s *Server) admit(conn net.Conn) {
	if err := socket.CheckPeer(conn); err != nil {
		s.log.Warn("window refuses a client", "error", err)
		conn.Close()
		return
	}
	c := newServerConn(s, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		c.out.finish("shutdown", "the window closes")
	case len(s.conns) >= maxConnections:
		c.out.finish("too_many_connections", fmt.Sprintf("%d clients are connected already", maxConnections))
	default:
		s.conns[c] = struct{}{}
	}
	s.owned.Add(2)
	go c.writeLoop()
	go c.readLoop()
}

func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

func (s *Server) helloAnswer(version int) Hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hello
	h.Version, h.Seq, h.State = version, s.seq, s.state.in(version)
	return h
}

func (s *Server) stateAnswer(version int) StateAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return StateAnswer{s.hello.Session, s.seq, s.state.in(version)}
}
