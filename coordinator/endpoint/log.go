package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
)

// logHandler streams the traffic, one cdplog.Line per message, until its reader closes
// its direction of the connection: all traffic until then still follows.
type logHandler struct {
	prover *prover
	proxy  *cdpproxy.Proxy
	ended  <-chan struct{} // closed when the endpoint ends
}

func (h *logHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := h.prover.asks(w, r, logPath); !ok {
		return
	}
	tap := h.proxy.Tap()
	defer tap.Close()
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	if stream.Flush() != nil {
		return
	}
	known := map[string]bool{}
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for {
		select {
		case m := <-tap.C():
			if !write(lines, m, tap.Took(m), known) {
				return
			}
			if len(tap.C()) == 0 && stream.Flush() != nil {
				return
			}
		case <-r.Context().Done(): // the reader has closed its direction, or is gone
			finish(lines, tap, known)
			return
		case <-h.ended:
			finish(lines, tap, known)
			return
		}
	}
}

// finish writes the traffic until now.
func finish(lines *json.Encoder, tap *cdpproxy.Tap, known map[string]bool) {
	lost := tap.Close()
	for len(tap.C()) > 0 {
		m := <-tap.C()
		if !write(lines, m, tap.Took(m), known) {
			return
		}
	}
	if lost > 0 {
		lines.Encode(cdplog.Line{Time: time.Now(), Lost: lost}) // fails if the reader has gone
	}
}

// write writes a message, and the client's name before its first message.
func write(lines *json.Encoder, m cdpproxy.Traffic, lost int, known map[string]bool) bool {
	l := cdplog.Line{Time: m.Time, Client: m.Client.ID, From: string(m.From)}
	l.SetMessage(m.Text)
	all := []cdplog.Line{l}
	if !known[m.Client.ID] {
		known[m.Client.ID] = true
		joined := cdplog.Client{Name: m.Client.Name, Version: m.Client.Version, Path: m.Client.Path}
		all = []cdplog.Line{{Time: m.Time, Client: m.Client.ID, Joined: &joined}, l}
	}
	if lost > 0 {
		all = append([]cdplog.Line{{Time: m.Time, Lost: lost}}, all...)
	}
	for _, line := range all {
		if lines.Encode(line) != nil {
			return false
		}
	}
	return true
}

// ErrNotServed reports that no coordinator serves a window's endpoint now.
var ErrNotServed = errors.New("nobody serves this window's endpoint now")

// Log opens the stream of a window's traffic from now on, as cdplog.Lines. It ends with
// the coordinator that serves the endpoint, when its caller closes it, and with ctx.
// Traffic until then still comes before EOF, unless the coordinator sends nothing for
// longer than drainTimeout; 0: none comes.
func Log(ctx context.Context, hash string, drainTimeout time.Duration) (io.ReadCloser, error) {
	f, err := openFiles(hash)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	stream, addr, err := f.log(ctx)
	if err != nil {
		return nil, f.notLogged(addr, err)
	}
	stream.endWith(ctx, drainTimeout)
	return stream, nil
}

// takeOver bounds how long the next coordinator takes to serve an endpoint whose owner
// has ended. One that stands by takes milliseconds.
const takeOver = 2 * time.Second

// NextLog is Log after a stream has ended with its coordinator: another one may be about
// to take over.
func NextLog(ctx context.Context, hash string, drainTimeout time.Duration) (io.ReadCloser, error) {
	f, err := openFiles(hash)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, takeOver)
	defer cancel()
	wait := newBackoff()
	var why error // not the error of cancelling
	for {
		// The address may be a new one: another program may have taken the port.
		stream, addr, err := f.log(asking)
		if err == nil {
			stream.endWith(ctx, drainTimeout)
			return stream, nil
		}
		if why == nil || asking.Err() == nil {
			why = err
		}
		if !wait.Sleep(asking) {
			return nil, f.notLogged(addr, why)
		}
	}
}

// log requests the owner's stream once. ctx is only for the request.
func (f *files) log(ctx context.Context) (*logStream, Addr, error) {
	addr, err := f.address()
	if err != nil {
		return nil, Addr{}, err
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	asked := context.AfterFunc(ctx, cancel)
	s := &logStream{cancel: cancel}
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { s.conn = got.Conn }}
	res, _, err := f.ask(httptrace.WithClientTrace(reading, trace), addr.Port, addr.token(), logPath, nil)
	if err == nil && !asked() {
		res.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		asked()
		cancel()
		return nil, addr, err
	}
	s.ReadCloser = res.Body
	return s, addr, nil
}

// logStream reads from conn, which its HTTP transport owns.
type logStream struct {
	io.ReadCloser
	conn   net.Conn
	cancel context.CancelFunc

	drainTimeout time.Duration
	unbind       func() bool                // detaches the context that ends it
	silence      atomic.Pointer[time.Timer] // cancels; nil until the context has ended
}

// endWith closes the request's direction when ctx ends, which ends the stream.
func (s *logStream) endWith(ctx context.Context, drainTimeout time.Duration) {
	s.drainTimeout = drainTimeout
	s.unbind = context.AfterFunc(ctx, func() {
		s.silence.Store(time.AfterFunc(drainTimeout, s.cancel))
		if half, ok := s.conn.(interface{ CloseWrite() error }); ok {
			half.CloseWrite() // fails where the owner has ended
		}
	})
}

func (s *logStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if silence := s.silence.Load(); n > 0 && silence != nil && s.drainTimeout > 0 {
		silence.Reset(s.drainTimeout)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("log: the coordinator does not tell the last of the traffic")
	}
	return n, err
}

func (s *logStream) Close() error {
	s.unbind()
	s.cancel()
	return s.ReadCloser.Close()
}

// notLogged is the reason why there is no stream.
func (f *files) notLogged(addr Addr, err error) error {
	if addr.URL == "" {
		return fmt.Errorf("log: %w", err)
	}
	if served, lockErr := f.isServed(); lockErr != nil || !served {
		return errors.Join(ErrNotServed, lockErr)
	}
	return fmt.Errorf("the coordinator that serves %s cannot log: it may be older than this one: %w", addr.URL, err)
}
