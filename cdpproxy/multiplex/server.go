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

	"browser-coordinator/cdpproxy/devtools"
	"browser-coordinator/cdpproxy/discovery"
)

// callTimeout bounds a command of the server's own whose caller sets no bound.
const callTimeout = 20 * time.Second

// errClosed: the connection has ended.
var errClosed = errors.New("the connection with the browser is closed")

// Server serves one browser. Its methods may be called from any goroutine.
type Server struct {
	log       *slog.Logger
	transport Transport
	clients   *devtools.Server
	wg        sync.WaitGroup // the reader and what detaches clients

	writing sync.Mutex // one command at a time is written

	mu       sync.Mutex // guards the fields that follow; nothing under it blocks
	ended    bool
	lastID   int32
	calls    map[int32]call
	sessions map[string]session // by id
}

// call is a command on the connection that waits for its response.
type call struct {
	client  *client        // nil: the server's own
	session string         // that it was sent to
	id      jsontext.Value // of the client
	done    chan response  // of the server's own
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

// Serve serves the browser on a loopback port. It closes the transport when it ends.
func Serve(transport Transport, logger *slog.Logger) (*Server, error) {
	s := &Server{log: logger, transport: transport, calls: map[int32]call{}, sessions: map[string]session{}}
	var err error
	if s.clients, err = devtools.Listen(browser{s}, logger); err != nil {
		return nil, err
	}
	s.wg.Go(s.read)
	return s, nil
}

// URL is the browser-level WebSocket URL. Its path is a secret.
func (s *Server) URL() string { return s.clients.URL() }

// Ready waits for the browser's first response.
func (s *Server) Ready(ctx context.Context) error {
	_, err := browser{s}.Product(ctx)
	return err
}

// Close closes the transport and disconnects the clients. A browser with a pipe ends
// with it.
func (s *Server) Close() {
	s.end()
	s.clients.Wait()
	s.wg.Wait()
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
			c.done <- response{err: errClosed}
		}
		delete(s.calls, id)
	}
	s.mu.Unlock()
	s.clients.End(0, "") // like Chromium: no close frame
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
	if err := s.write(devtools.Message{ID: id, Method: method, Params: encoded}); err != nil {
		return err
	}
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
	if s.ended {
		return nil, false
	}
	for {
		s.lastID = max(s.lastID+1, 1) // which starts again after 2³¹ commands
		if _, used := s.calls[s.lastID]; !used {
			s.calls[s.lastID] = c
			return strconv.AppendInt(nil, int64(s.lastID), 10), true
		}
	}
}

// write sends one command.
func (s *Server) write(m devtools.Message) error {
	message := m.Encode()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.transport.Write(message); err != nil {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return nil
}

// browser presents a server's browser to the clients.
type browser struct{ *Server }

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

func (b browser) Product(ctx context.Context) (p discovery.Product, err error) {
	err = b.call(ctx, call{}, "Browser.getVersion", struct{}{}, &p)
	return p, err
}

func (b browser) Targets(ctx context.Context) (list []discovery.Target, err error) {
	var got struct {
		Targets []target `json:"targetInfos"`
	}
	err = b.call(ctx, call{}, "Target.getTargets", struct{}{}, &got)
	for _, t := range got.Targets {
		list = append(list, t.described())
	}
	return list, err
}

func (b browser) Open(ctx context.Context, address string) (discovery.Target, error) {
	var created targetID
	var got struct {
		Target target `json:"targetInfo"`
	}
	err := b.call(ctx, call{}, "Target.createTarget", struct {
		URL string `json:"url"`
	}{address}, &created)
	if err == nil {
		err = b.call(ctx, call{}, "Target.getTargetInfo", created, &got)
	}
	return got.Target.described(), err
}

func (b browser) Act(ctx context.Context, method, target string) error {
	err := b.call(ctx, call{}, method, targetID{target}, nil)
	if errors.As(err, new(*devtools.Error)) {
		return devtools.ErrNoTarget
	}
	return err
}

// Join attaches a session to the browser, or to the page with that id.
func (b browser) Join(ctx context.Context, to *devtools.Client, page string) (devtools.Session, error) {
	c := &client{Client: to, server: b.Server}
	var err error
	if page == "" {
		err = b.call(ctx, call{client: c}, "Target.attachToBrowserTarget", struct{}{}, nil)
	} else {
		err = b.call(ctx, call{client: c}, "Target.attachToTarget", struct {
			Target  string `json:"targetId"`
			Flatten bool   `json:"flatten"`
		}{page, true}, nil)
		if errors.As(err, new(*devtools.Error)) {
			err = devtools.ErrNoTarget
		}
	}
	if err != nil {
		c.Leave()
		return nil, err
	}
	return c, nil
}
