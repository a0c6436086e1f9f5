package endpoint

import (
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
)

// ownerServer serves the other coordinators of the window while this process owns the
// endpoint.
type ownerServer struct {
	files    *files
	nonce    string // lives as long as the owner
	proxy    *cdpproxy.Proxy
	released <-chan struct{} // closed when the lock is released
}

func (s *ownerServer) handlers() map[string]http.Handler {
	return map[string]http.Handler{
		provePath:   http.HandlerFunc(s.prove),
		standbyPath: http.HandlerFunc(s.standBy),
		logPath:     http.HandlerFunc(s.log),
		statusPath:  http.HandlerFunc(s.status),
	}
}

// prove proves to clients that know the token that this process is the owner.
func (s *ownerServer) prove(w http.ResponseWriter, r *http.Request) {
	asked := strings.TrimPrefix(r.URL.Path, provePath)
	w.Header().Set("Connection", "close") // the peer is still unauthenticated
	if raw, err := hex.DecodeString(asked); err != nil || len(raw) != nonceBytes {
		http.NotFound(w, r)
		return
	}
	w.Header().Set(hashHeader, s.files.hash)
	w.Header().Set(nonceHeader, s.nonce)
	w.Header().Set(proofHeader, s.files.proof("owner", s.files.hash, localPort(r), asked, s.nonce))
	w.WriteHeader(http.StatusOK)
}

// admits checks that the sender of a request to path has proved that it knows the token,
// and returns its nonce. It responds to any other request itself.
func (s *ownerServer) admits(w http.ResponseWriter, r *http.Request, path string) (nonce string, ok bool) {
	w.Header().Set("Connection", "close")
	nonce, proof, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, path), "/")
	if !s.files.proven(proof, path, s.files.hash, localPort(r), s.nonce, nonce) {
		http.Error(w, "this is for coordinators of the same user", http.StatusForbidden)
		return "", false
	}
	w.Header().Set(hashHeader, s.files.hash)
	return nonce, true
}

// localPort is the port at which the request arrived: a proof for another port is
// invalid, so a program in between cannot relay it.
func localPort(r *http.Request) string {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return strconv.Itoa(tcp.Port)
	}
	return ""
}

// standBy responds at once, and ends its response when the lock is released.
func (s *ownerServer) standBy(w http.ResponseWriter, r *http.Request) {
	nonce, ok := s.admits(w, r, standbyPath)
	if !ok {
		return
	}
	if r.Header.Get(tokenHeader) == tokenRequired {
		defer s.proxy.Stricten()()
	}
	var required string
	if s.proxy.RequiresToken() {
		required = tokenRequired
		w.Header().Set(tokenHeader, required)
	}
	w.Header().Set(proofHeader, s.files.proof("standby", nonce, required))
	w.WriteHeader(http.StatusOK)
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
	if _, ok := s.admits(w, r, logPath); !ok {
		return
	}
	tap := s.proxy.Tap()
	defer tap.Close()
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	if stream.Flush() != nil {
		return
	}
	lines := &lineWriter{json: json.NewEncoder(w), joined: map[string]bool{}}
	lines.json.SetEscapeHTML(false)
	for ended := false; !ended; {
		select {
		case m := <-tap.C():
			lines.message(m, tap.Took(m))
			if lines.err != nil || len(tap.C()) == 0 && stream.Flush() != nil {
				return
			}
		case <-r.Context().Done(): // the reader has closed its direction, or is gone
			ended = true
		case <-s.released:
			ended = true
		}
	}
	lost := tap.Close()
	for len(tap.C()) > 0 {
		m := <-tap.C()
		lines.message(m, tap.Took(m))
	}
	lines.lost(time.Now(), lost)
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

func (w *lineWriter) lost(at time.Time, messages int) {
	if messages > 0 {
		w.write(cdplog.Line{Time: at, Lost: messages})
	}
}

// message writes a message, and the client's name before its first message.
func (w *lineWriter) message(m cdpproxy.Traffic, lost int) {
	w.lost(m.Time, lost)
	if c := m.Client; !w.joined[c.ID] {
		w.joined[c.ID] = true
		w.write(cdplog.Line{Time: m.Time, Client: c.ID, Joined: &cdplog.Client{Name: c.Name, Version: c.Version, Path: c.Path}})
	}
	l := cdplog.Line{Time: m.Time, Client: m.Client.ID, From: string(m.From)}
	l.SetMessage(m.Text)
	w.write(l)
}
