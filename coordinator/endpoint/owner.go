package endpoint

import (
	"encoding/json"
	"net/http"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
)

// ownerServer serves the other coordinators of the window while this process owns the
// endpoint. Only processes of the same user reach its socket.
type ownerServer struct {
	proxy    *cdpproxy.Proxy
	port     int
	released <-chan struct{} // closed when the lock is released
}

func (s *ownerServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(statusPath, s.status)
	mux.HandleFunc(standbyPath, s.standBy)
	mux.HandleFunc(logPath, s.log)
	return mux
}

// The paths of an owner's socket. A client that stands by and needs the strict mode adds
// strictQuery.
const (
	statusPath  = "/status"
	standbyPath = "/standby"
	logPath     = "/log"
	strictQuery = "?token=required"
)

// status responds with the state.
func (s *ownerServer) status(w http.ResponseWriter, _ *http.Request) {
	now := statusOf(s.proxy.Status())
	now.Port, now.TokenRequired = s.port, s.proxy.RequiresToken()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(now) // the reader may be gone
}

// standBy responds with the state at once, and ends its response when the lock is
// released.
func (s *ownerServer) standBy(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("token") == "required" {
		defer s.proxy.Stricten()()
	}
	s.status(w, r)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-s.released:
	case <-r.Context().Done():
	}
}

// log streams the traffic, one cdplog.Line per message, until its reader closes its
// direction of the connection: all traffic until then still follows.
func (s *ownerServer) log(w http.ResponseWriter, r *http.Request) {
	tap := s.proxy.Tap()
	defer tap.Close()
	w.Header().Set("Content-Type", "application/jsonl")
	stream := http.NewResponseController(w)
	if stream.Flush() != nil {
		return
	}
	lines := &lineWriter{json: json.NewEncoder(w), joined: map[string]bool{}}
	lines.json.SetEscapeHTML(false)
	for ended := false; !ended; {
		select {
		case <-tap.Ready():
		case <-r.Context().Done(): // the reader has closed its direction, or is gone
			ended = true
		case <-s.released:
			ended = true
		}
		if ended {
			tap.Close()
		}
		messages, missing := tap.Take()
		for _, m := range messages {
			lines.message(m)
		}
		lines.reportLoss(missing)
		if lines.err != nil || stream.Flush() != nil {
			return
		}
	}
}

// lineWriter writes the lines of a log, until the first error.
type lineWriter struct {
	json   *json.Encoder
	joined map[string]bool // the clients whose names were written
	err    error
}

func (w *lineWriter) write(l cdplog.Line) {
	if w.err == nil {
		w.err = w.json.Encode(l)
	}
}

func (w *lineWriter) reportLoss(messages int) {
	if messages > 0 {
		w.write(cdplog.Line{Time: time.Now(), Missing: messages})
	}
}

// message writes a message, and the client's name before its first message.
func (w *lineWriter) message(m cdpproxy.Traffic) {
	if c := m.Client; !w.joined[c.ID] {
		w.joined[c.ID] = true
		w.write(cdplog.Line{Time: m.Time, Client: c.ID, Joined: &cdplog.Client{Name: c.Name, Version: c.Version,
			Path: c.Path}})
	}
	l := cdplog.Line{Time: m.Time, Client: m.Client.ID, From: string(m.From)}
	l.SetMessage(m.Text)
	w.write(l)
}
