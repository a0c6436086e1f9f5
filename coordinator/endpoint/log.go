package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
)

// logPath is known to whoever knows the token (see standbyPath).
func logPath(token string) string {
	sum := sha256.Sum256([]byte("log " + token))
	return "/log/" + hex.EncodeToString(sum[:])
}

// logHandler streams what passes, a cdplog.Line each, until its reader goes.
type logHandler struct {
	hash  string
	proxy *cdpproxy.Proxy
	ended <-chan struct{} // closed when the endpoint ends
}

func (h *logHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tap := h.proxy.Tap()
	defer tap.Close()
	w.Header().Set(hashHeader, h.hash)
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
		case <-r.Context().Done():
			return
		case <-h.ended:
			return
		}
	}
}

// write says a message, and before a client's first one who it is.
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

// ErrNotServed reports that nobody serves a window's endpoint now.
var ErrNotServed = errors.New("nobody serves this window's endpoint now")

// Log opens the stream of what passes a window's endpoint from now on, as
// cdplog.Lines. It ends with ctx, with the coordinator that serves the endpoint,
// and when its caller closes it.
func Log(ctx context.Context, hash string) (io.ReadCloser, error) {
	f, err := openFiles(hash)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	stream, addr, err := f.log(ctx)
	if err != nil {
		return nil, f.notLogged(addr, err)
	}
	return stream, nil
}

// takeOver is how long the next coordinator may take to serve an endpoint whose
// owner has ended; it is one of those that stand by, which take milliseconds.
const takeOver = 2 * time.Second

// NextLog is Log once a stream has ended with its coordinator: another one may be
// about to take over.
func NextLog(ctx context.Context, hash string) (io.ReadCloser, error) {
	f, err := openFiles(hash)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	asking, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(takeOver, cancel)
	var wait backoff
	var why error // not what comes of giving up
	for {
		// The address may be another one: a stranger may have taken the port.
		stream, addr, err := f.log(asking)
		if err == nil && timer.Stop() {
			return &nextStream{stream, cancel}, nil
		}
		if err == nil {
			stream.Close()
			err = context.DeadlineExceeded
		}
		if why == nil || asking.Err() == nil {
			why = err
		}
		if !wait.sleep(asking) {
			timer.Stop()
			cancel()
			return nil, f.notLogged(addr, why)
		}
	}
}

// nextStream lets go of its context when it is closed.
type nextStream struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (s *nextStream) Close() error {
	defer s.cancel()
	return s.ReadCloser.Close()
}

// log asks the owner for its stream once.
func (f *files) log(ctx context.Context) (io.ReadCloser, Addr, error) {
	addr, err := f.address()
	if err != nil {
		return nil, Addr{}, err
	}
	res, err := f.ask(ctx, addr.Port, logPath(addr.token()), nil)
	if err != nil {
		return nil, addr, err
	}
	return res.Body, addr, nil
}

// notLogged is why there is no stream.
func (f *files) notLogged(addr Addr, err error) error {
	if addr.URL == "" {
		return fmt.Errorf("log: %w", err)
	}
	if served, lockErr := f.isServed(); lockErr != nil || !served {
		return errors.Join(ErrNotServed, lockErr)
	}
	return fmt.Errorf("the coordinator that serves %s cannot log: it may be older than this one: %w", addr.URL, err)
}
