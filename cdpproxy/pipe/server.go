package pipe

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"browser-coordinator/cdpproxy"
)

const (
	// callTimeout bounds a command of the server's own.
	callTimeout = 20 * time.Second
	// manyCalls is the number of pending commands that starts a sweep for those
	// without a response to come.
	manyCalls = 10_000
)

// ErrClosed: the pipe has ended.
var ErrClosed = errors.New("the browser's debugging pipe is closed")

// Options of a server. The zero value and nil are good defaults.
type Options struct {
	// MaxBuffered bounds the bytes buffered for a client that reads more slowly
	// than the browser writes. Beyond it the client is disconnected. Zero:
	// cdpproxy.DefaultMaxBuffered.
	MaxBuffered int
	Logger      *slog.Logger // nil discards
}

// Server serves one browser's pipe. Its methods may be called from any goroutine.
type Server struct {
	opts         Options
	log          *slog.Logger
	in           io.ReadCloser
	out          io.WriteCloser
	secret, guid string
	address      string // HOST:PORT
	http         *http.Server
	wg           sync.WaitGroup // the reader, the listener, the requests
	done         chan struct{}  // closed when nothing is left

	writing sync.Mutex // one command at a time is written to out

	mu       sync.Mutex // guards the fields that follow; nothing under it blocks
	ended    bool
	lastID   int32
	calls    map[int32]call
	sweepAt  int
	sessions map[string]session // by id
	clients  map[*client]struct{}
}

// call is a command on the pipe that waits for its response.
type call struct {
	client  *client // nil: the server's own
	session string  // that it was sent to
	id      int32   // of the client
	attach  bool    // the response names the client's session
	done    chan response
}

type response struct {
	result json.RawMessage
	err    error
}

// session is one that a client owns.
type session struct {
	client *client
	parent string
}

// Serve reads the browser's messages from in, writes commands to out and listens on
// a loopback port. It closes in and out when it ends.
func Serve(in io.ReadCloser, out io.WriteCloser, opts *Options) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the clients of the browser: %w", err)
	}
	s := &Server{
		in: in, out: out, secret: randomID(), guid: randomID(), address: ln.Addr().String(),
		done: make(chan struct{}), calls: map[int32]call{}, sweepAt: manyCalls,
		sessions: map[string]session{}, clients: map[*client]struct{}{},
	}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxBuffered == 0 {
		s.opts.MaxBuffered = cdpproxy.DefaultMaxBuffered
	}
	if s.log = s.opts.Logger; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          log.New(debugWriter{s.log}, "", 0),
	}
	s.wg.Go(func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the browser's pipe is no longer served", "error", err)
		}
	})
	s.wg.Go(s.read)
	go func() { // ends last
		s.wg.Wait()
		close(s.done)
	}()
	return s, nil
}

// randomID is a secret of 128 bits.
func randomID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// debugWriter forwards the messages of net/http to the logger.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(b []byte) (int, error) {
	w.log.Debug("http server", "message", string(b))
	return len(b), nil
}

// URL is the browser-level WebSocket URL. Its path is a secret.
func (s *Server) URL() string { return "ws://" + s.address + s.browserPath() }

func (s *Server) browserPath() string { return "/" + s.secret + "/devtools/browser/" + s.guid }

// Ready waits for the browser's first response.
func (s *Server) Ready(ctx context.Context) error {
	_, err := s.product(ctx)
	return err
}

// Done is closed when the pipe has ended and every client has left.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close ends the pipe, which ends the browser, and disconnects the clients.
func (s *Server) Close() error {
	s.end()
	<-s.done
	return nil
}

// end is the only place where a server begins to end.
func (s *Server) end() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	for id, c := range s.calls {
		if c.done != nil {
			c.done <- response{err: ErrClosed}
		}
		delete(s.calls, id)
	}
	for c := range s.clients {
		c.end(0, "", false) // like Chromium: no close frame
	}
	s.mu.Unlock()
	s.in.Close()
	s.out.Close()
	s.http.Close()
}

// call sends a command of the server's own and waits for its response.
func (s *Server) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return s.send(ctx, call{}, method, params)
}

func (s *Server) send(ctx context.Context, c call, method string, params any) (json.RawMessage, error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	c.done = make(chan response, 1)
	id, ok := s.register(c)
	if !ok {
		return nil, ErrClosed
	}
	if err := s.write(appendCommand(nil, id, "", strconv.AppendQuote(nil, method), encoded)); err != nil {
		return nil, err
	}
	select {
	case r := <-c.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: the browser does not respond: %w", method, context.Cause(ctx))
	}
}

// register gives a command its id on the pipe; false: the pipe has ended.
func (s *Server) register(c call) (int32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.registerLocked(c)
}

func (s *Server) registerLocked(c call) (int32, bool) {
	if s.ended {
		return 0, false
	}
	if len(s.calls) >= s.sweepAt {
		s.sweep()
	}
	for {
		s.lastID++
		if s.lastID <= 0 { // after 2³¹ commands
			s.lastID = 1
		}
		if _, used := s.calls[s.lastID]; !used {
			s.calls[s.lastID] = c
			return s.lastID, true
		}
	}
}

// sweep removes the commands whose session ended before the response. mu is held.
func (s *Server) sweep() {
	for id, c := range s.calls {
		if _, open := s.sessions[c.session]; c.session != "" && !open {
			delete(s.calls, id)
		}
	}
	s.sweepAt = max(manyCalls, 2*len(s.calls))
}

// write writes one command with its terminator.
func (s *Server) write(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.out.Write(message); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}
