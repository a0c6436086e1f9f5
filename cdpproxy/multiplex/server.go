package multiplex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/cdpproxy/private"
)

// callTimeout bounds a command of the server's own whose caller sets no bound.
const callTimeout = 20 * time.Second

// errClosed: the connection has ended.
var errClosed = errors.New("the connection with the browser is closed")

// Server serves one browser. Its methods may be called from any goroutine.
type Server struct {
	log       *slog.Logger
	transport Transport
	private   *private.Server
	running   sync.WaitGroup  // the reader, the writer and what detaches clients
	outgoing  chan []byte     // to the writer
	ctx       context.Context // ends with the connection, with mu held
	cancel    context.CancelFunc

	mu       sync.Mutex // guards the fields that follow; nothing under it blocks
	lastID   int32
	calls    map[int32]call
	sessions map[string]*session // by id
}

// call is a command on the connection that waits for its response.
type call struct {
	client  *client        // nil: the server's own
	session *session       // that it was sent to; nil for the server's own
	id      jsontext.Value // of the client
	done    chan response  // of the server's own
}

type response struct {
	result json.RawMessage
	err    error
}

// Serve serves the browser on a loopback port. It closes the transport when it ends.
func Serve(transport Transport, logger *slog.Logger) (*Server, error) {
	s := &Server{
		log: logger, transport: transport, outgoing: make(chan []byte),
		calls: map[int32]call{}, sessions: map[string]*session{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	var err error
	if s.private, err = private.Serve(s, logger); err != nil {
		return nil, err
	}
	s.running.Go(s.read)
	s.running.Go(s.writeAll)
	return s, nil
}

// URL is the browser-level WebSocket URL. Its path is a secret.
func (s *Server) URL() string { return s.private.URL() }

// Ready waits for the browser's first response.
func (s *Server) Ready(ctx context.Context) error {
	_, err := s.Product(ctx)
	return err
}

// Close closes the transport and disconnects the clients. A browser with a pipe ends
// with it.
func (s *Server) Close() {
	s.end()
	s.private.Close()
	s.running.Wait()
}

// end is the only place where a server begins to end.
func (s *Server) end() {
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	s.cancel()
	for id, c := range s.calls {
		if c.done != nil {
			c.done <- response{err: errClosed}
		}
		delete(s.calls, id)
	}
	for _, sess := range s.sessions {
		if sess.parent == nil {
			sess.client.downstream.End(0, "")
		}
	}
	s.mu.Unlock()
	if err := s.transport.Close(); err != nil {
		s.log.Debug("close the connection with the browser", "error", err)
	}
}

// call sends a command of the server's own, and decodes its result into result,
// unless that is nil.
func (s *Server) call(ctx context.Context, c call, method string, params, result any) error {
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	c.done = make(chan response, 1)
	s.mu.Lock()
	id, ok := s.register(c)
	s.mu.Unlock()
	if !ok {
		return errClosed
	}
	s.write(browser.Message{ID: id, Method: method, Params: encoded}, ctx.Done())
	select {
	case r := <-c.done:
		if r.err != nil || result == nil {
			return r.err
		}
		return json.Unmarshal(r.result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: the browser does not respond: %w", method, context.Cause(ctx))
	}
}

// register gives a command its id on the connection; false: it has ended. mu is held.
func (s *Server) register(c call) (id jsontext.Value, ok bool) {
	if s.ctx.Err() != nil {
		return nil, false
	}
	for {
		s.lastID = max(s.lastID+1, 1) // which starts again after 2³¹ commands
		if _, used := s.calls[s.lastID]; !used {
			s.calls[s.lastID] = c
			if c.session != nil {
				c.session.calls[s.lastID] = struct{}{}
			}
			return strconv.AppendInt(nil, int64(s.lastID), 10), true
		}
	}
}

// write sends one command, unless the caller gives up before the browser has read those
// before it. It reports whether it did; else no response comes. mu is not held.
func (s *Server) write(m browser.Message, gaveUp <-chan struct{}) bool {
	select {
	case s.outgoing <- m.Encode():
		return true
	case <-gaveUp:
	case <-s.ctx.Done():
	}
	s.unregister(m.ID)
	return false
}

// unregister removes a command that was not sent.
func (s *Server) unregister(id jsontext.Value) {
	n, err := strconv.ParseInt(string(id), 10, 32)
	if err != nil {
		return // register makes numbers only
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[int32(n)]; c.session != nil {
		delete(c.session.calls, int32(n))
	}
	delete(s.calls, int32(n))
}

// writeAll is the only writer of the transport: it alone waits for a browser that does not
// read.
func (s *Server) writeAll() {
	defer s.end() // a part of a command may have been written
	for {
		select {
		case message := <-s.outgoing:
			if err := s.transport.Write(message); err != nil {
				s.log.Debug("write to the browser", "error", err)
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

type targetID struct {
	ID string `json:"targetId"`
}

// target is the part of Target.TargetInfo in /json/list.
type target struct {
	ID     string `json:"targetId"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Parent string `json:"parentId"`
}

func (t target) described() discovery.Target {
	return discovery.Target{ID: t.ID, Parent: t.Parent, Title: t.Title, Type: t.Type, URL: t.URL}
}

// Product implements [browser.Browser].
func (s *Server) Product(ctx context.Context) (p discovery.Product, err error) {
	err = s.call(ctx, call{}, "Browser.getVersion", struct{}{}, &p)
	return p, err
}

// Targets implements [browser.Browser].
func (s *Server) Targets(ctx context.Context) (list []discovery.Target, err error) {
	var got struct {
		Targets []target `json:"targetInfos"`
	}
	err = s.call(ctx, call{}, "Target.getTargets", struct{}{}, &got)
	for _, t := range got.Targets {
		list = append(list, t.described())
	}
	return list, err
}

// OpenPage implements [browser.Browser].
func (s *Server) OpenPage(ctx context.Context, address string) (discovery.Target, error) {
	var created targetID
	var got struct {
		Target target `json:"targetInfo"`
	}
	err := s.call(ctx, call{}, "Target.createTarget", struct {
		URL string `json:"url"`
	}{address}, &created)
	if err == nil {
		err = s.call(ctx, call{}, "Target.getTargetInfo", created, &got)
	}
	return got.Target.described(), err
}

// Act implements [browser.Browser].
func (s *Server) Act(ctx context.Context, method, target string) error {
	err := s.call(ctx, call{}, method, targetID{target}, nil)
	if errors.As(err, new(*browser.Error)) {
		return browser.ErrNoTarget
	}
	return err
}

// Open implements [browser.Browser]: it attaches a session to the browser, or to the page
// with that id.
func (s *Server) Open(ctx context.Context, page string, downstream browser.Client) (browser.Conn, error) {
	c := &client{downstream: downstream, server: s}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var err error
	if page == "" {
		err = s.call(ctx, call{client: c}, "Target.attachToBrowserTarget", struct{}{}, nil)
	} else {
		err = s.call(ctx, call{client: c}, "Target.attachToTarget", struct {
			Target  string `json:"targetId"`
			Flatten bool   `json:"flatten"`
		}{page, true}, nil)
		if errors.As(err, new(*browser.Error)) {
			err = browser.ErrNoTarget
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
