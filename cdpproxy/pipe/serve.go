package pipe

import (
	"context"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/cdpproxy/peer"
)

type connKey struct{}

// admit checks the peer. The path begins with the secret, the request has no Origin
// (a web page's WebSocket has one), and the kernel reports no other user.
func (s *Server) admit(r *http.Request) (path string, ok bool) {
	secret, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(s.secret)) != 1 || len(r.Header.Values("Origin")) > 0 {
		return "", false
	}
	conn, known := r.Context().Value(connKey{}).(net.Conn)
	if !known || errors.As(peer.CheckClient(conn), new(*peer.OtherUserError)) {
		return "", false
	}
	return "/" + rest, true
}

// handle responds like Chromium's DevTools server, below the secret.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	path, ok := s.admit(r)
	if ok && !s.enter() {
		return // the pipe has ended, and this connection with it
	}
	if !ok {
		w.Header().Set("Connection", "close")
		http.Error(w, "this address is for the coordinator that launched the browser; `coordinator endpoint` prints the one for CDP clients", http.StatusForbidden)
		return
	}
	defer s.wg.Done()
	page, isPage := strings.CutPrefix(path, "/devtools/page/")
	switch {
	case path == "/devtools/browser/"+s.guid:
		s.serveClient(w, r, "")
	case isPage && page == "":
		discovery.Answer(w, http.StatusInternalServerError, discovery.HTMLType, noTarget)
	case isPage:
		s.serveClient(w, r, page)
	case path == "/json" || strings.HasPrefix(path, "/json/"):
		s.serveJSON(w, r, path)
	default:
		discovery.Answer(w, http.StatusNotFound, discovery.HTMLType, "")
	}
}

// enter counts a request that Close waits for; false: the pipe has ended.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.wg.Add(1)
	}
	return !s.ended
}

// accept upgrades the request. Like Chromium it accepts any key: rod's is "nil".
func accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	key := r.Header.Get("Sec-WebSocket-Key")
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
	return websocket.Accept(&acceptWriter{w, base64.StdEncoding.EncodeToString(sum[:])}, r, nil)
}

// acceptWriter computes the response from the key that the client sent.
type acceptWriter struct {
	http.ResponseWriter
	accept string
}

func (w *acceptWriter) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		w.Header().Set("Sec-WebSocket-Accept", w.accept)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *acceptWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *Server) serveJSON(w http.ResponseWriter, r *http.Request, path string) {
	name, id, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/json"), "/"), "/")
	ctx := r.Context()
	switch name {
	case "", "list":
		s.serveList(ctx, w)
	case "version":
		p, err := s.product(ctx)
		answerJSON(w, p.Version(s.URL()), err)
	case "protocol":
		w.Header().Set("Content-Type", discovery.ContentType)
		discovery.WriteProtocol(w) // fails if the client has gone
	case "new":
		s.serveNew(w, r)
	case "activate":
		s.act(ctx, w, "Target.activateTarget", id, "Target activated")
	case "close":
		s.act(ctx, w, "Target.closeTarget", id, "Target is closing")
	default:
		discovery.AnswerText(w, http.StatusNotFound, "Unknown command: "+name)
	}
}

func (s *Server) act(ctx context.Context, w http.ResponseWriter, method, id, done string) {
	_, err := s.call(ctx, method, targetID{id})
	var f *failure
	switch {
	case errors.As(err, &f):
		discovery.AnswerText(w, http.StatusNotFound, noTarget+id)
	case err != nil:
		discovery.AnswerText(w, http.StatusInternalServerError, err.Error())
	default:
		discovery.AnswerText(w, http.StatusOK, done)
	}
}

func (s *Server) serveNew(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		discovery.RefuseVerb(w, r.Method)
		return
	}
	address, _, _ := strings.Cut(r.URL.RawQuery, "&for_tab")
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	if address == "" {
		address = "about:blank"
	}
	var info struct {
		Target target `json:"targetInfo"`
	}
	created, err := s.call(r.Context(), "Target.createTarget", struct {
		URL string `json:"url"`
	}{address})
	if err == nil {
		var id targetID
		if err = json.Unmarshal(created, &id); err == nil {
			created, err = s.call(r.Context(), "Target.getTargetInfo", id)
		}
	}
	if err == nil {
		err = json.Unmarshal(created, &info)
	}
	answerJSON(w, s.describe(info.Target, s.revision(r.Context())), err)
}

const noTarget = "No such target id: " // Chromium's text

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

func (s *Server) serveList(ctx context.Context, w http.ResponseWriter) {
	var got struct {
		Targets []target `json:"targetInfos"`
	}
	result, err := s.call(ctx, "Target.getTargets", struct{}{})
	if err == nil {
		err = json.Unmarshal(result, &got)
	}
	revision := s.revision(ctx)
	list := make([]discovery.Target, 0, len(got.Targets))
	for _, t := range got.Targets {
		list = append(list, s.describe(t, revision))
	}
	answerJSON(w, list, err)
}

func (s *Server) describe(t target, revision string) discovery.Target {
	d := discovery.Target{ID: t.ID, Parent: t.Parent, Title: t.Title, Type: t.Type, URL: t.URL}
	return d.At(s.address+"/"+s.secret, revision)
}

// revision is the browser's, for the address of the DevTools front end.
func (s *Server) revision(ctx context.Context) string {
	p, err := s.product(ctx)
	if err != nil {
		return ""
	}
	return p.Revision
}

func (s *Server) product(ctx context.Context) (discovery.Product, error) {
	var p discovery.Product
	result, err := s.call(ctx, "Browser.getVersion", struct{}{})
	if err == nil {
		err = json.Unmarshal(result, &p)
	}
	return p, err
}

func answerJSON(w http.ResponseWriter, v any, err error) {
	if err != nil {
		discovery.AnswerText(w, http.StatusInternalServerError, err.Error())
		return
	}
	discovery.AnswerJSON(w, v)
}
