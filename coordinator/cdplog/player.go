package cdplog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/discovery"
)

// Player is a browser made of a recording. Each client that connects plays the
// part of the next recorded one whose path fits its own, and when all were
// played, of the first such one again.
type Player struct {
	// Log: nil discards. Set it before Serve.
	Log *slog.Logger
	// Admission decides on who is let in. Nil: on Linux, programs of the same user.
	// Set it before Serve.
	Admission *cdpproxy.Admission

	head    Line
	parts   []*part // in the order in which they joined
	cut     string  // why the recording ends too early; empty: it does not
	server  *http.Server
	playing sync.WaitGroup
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu     sync.Mutex // guards the fields that follow
	played map[*part]int
	warned map[string]bool // of these
}

// maxMessage is the largest message that Chromium accepts.
const maxMessage = 100 << 20

// part is what one client said and heard.
type part struct {
	client Client
	lines  []Line
}

// Open reads a recording.
func Open(r io.Reader) (*Player, error) {
	p := &Player{Log: slog.New(slog.DiscardHandler), played: map[*part]int{}, warned: map[string]bool{}}
	parts := map[string]*part{}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	err := Read(r, func(l Line) error {
		switch {
		case l.Format != "":
			p.head = l
		case l.Cut != "":
			p.cut = l.Cut
		case l.Lost > 0:
			return errors.New("messages are missing in this recording, since they came too fast: it cannot be replayed")
		case l.Joined != nil:
			parts[l.Client] = &part{client: *l.Joined}
			p.parts = append(p.parts, parts[l.Client])
		case parts[l.Client] != nil && l.Message != nil:
			parts[l.Client].lines = append(parts[l.Client].lines, l)
		}
		return nil
	})
	if errors.Is(err, ErrTorn) {
		p.cut, err = err.Error(), nil
	}
	if err == nil && len(p.parts) == 0 {
		err = errors.New("no client said anything while this was recorded")
	}
	if err != nil {
		return nil, err
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.handle), ReadHeaderTimeout: 10 * time.Second}
	return p, nil
}

// Serve plays until Close, and returns nil then.
func (p *Player) Serve(ln net.Listener) error {
	if p.cut != "" {
		p.Log.Warn("this recording is cut off: what there is of it is served", "why", p.cut)
	}
	if p.Admission == nil {
		p.Admission = cdpproxy.NewAdmission(nil)
	}
	p.server.ConnContext = p.Admission.ConnContext
	err := p.server.Serve(ln)
	p.playing.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the player and its clients' connections.
func (p *Player) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancel()
	p.server.Close()
}

func (p *Player) handle(w http.ResponseWriter, r *http.Request) {
	mount, path, ok := p.Admission.Admit(r)
	if !ok {
		w.Header().Set("Connection", "close")
		http.Error(w, "a replayed browser is for programs of the user who runs `coordinator replay`, at the address that it printed", http.StatusForbidden)
		return
	}
	switch path = strings.TrimSuffix(path, "/"); {
	case path == "/json/version":
		p.document(w, r.Host+mount, p.head.Browser)
	case path == "/json", path == "/json/list":
		p.document(w, r.Host+mount, p.head.Targets)
	case path == "/json/protocol":
		w.Header().Set("Content-Type", discovery.ContentType)
		discovery.WriteProtocol(w) // fails where the client has gone
	case strings.HasPrefix(path, "/devtools/"):
		p.join(w, r, path)
	default:
		http.Error(w, "a replayed browser has /json/version, /json/list, /json/protocol and its WebSockets", http.StatusNotFound)
	}
}

// document answers with a recorded one, its addresses turned into ours.
func (p *Player) document(w http.ResponseWriter, own string, text json.RawMessage) {
	if len(text) == 0 {
		http.Error(w, "not in the recording", http.StatusNotFound)
		return
	}
	text, err := discovery.Rewrite(text, "", own)
	if err != nil {
		http.Error(w, "the recording is not readable here: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", discovery.ContentType)
	w.Write(text)
}

// kind is what a path leads to: the browser, or one page.
func kind(path string) string {
	path = strings.TrimSuffix(path, "/")
	if path == "/devtools/browser" || strings.HasPrefix(path, "/devtools/browser/") {
		return "browser"
	}
	return path
}

// parted are the parts with that path.
func (p *Player) parted(path string) []*part {
	var all []*part
	for _, c := range p.parts {
		if kind(c.client.Path) == kind(path) {
			all = append(all, c)
		}
	}
	return all
}

// choose gives the next one to a client of that name: of those that a client of the
// same name has played if there are any, the one that was played least.
func (p *Player) choose(parts []*part, name, version string) *part {
	same := func(c *part) bool { return c.client.Name == name }
	if slices.ContainsFunc(parts, same) {
		parts = slices.DeleteFunc(slices.Clone(parts), func(c *part) bool { return !same(c) })
	}
	p.mu.Lock()
	best := slices.MinFunc(parts, func(a, b *part) int { return p.played[a] - p.played[b] })
	p.played[best]++
	p.mu.Unlock()
	if was := best.client; was.Name != name || was.Version != version {
		p.Log.Warn("a client plays the part of another one: it may not say the same", "client", strings.TrimSpace(name+" "+version), "recorded", strings.TrimSpace(was.Name+" "+was.Version))
	}
	return best
}

func (p *Player) join(w http.ResponseWriter, r *http.Request, path string) {
	parts := p.parted(path)
	if len(parts) == 0 {
		p.Log.Warn("a client wants to connect where nobody did while this was recorded", "path", path)
		http.Error(w, "nobody connected to "+path+" while this was recorded", http.StatusNotFound)
		return
	}
	p.mu.Lock()
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		http.Error(w, "the replay has ended", http.StatusServiceUnavailable)
		return
	}
	p.playing.Add(1)
	p.mu.Unlock()
	defer p.playing.Done()
	name, version := cdpproxy.GuessName(r.UserAgent(), r.Header.Get("Origin"))
	// Admission has checked Origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	chosen := p.choose(parts, name, version)
	play := newPlay(chosen.lines, p.Log, p.warn)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	err = play.run(ctx, conn)
	p.Log.Debug("a client left the replay", "client", chosen.client.Name, "error", err)
}

// warn tells each text once for a method, with more about the first time.
func (p *Player) warn(text, method string, more ...any) {
	about := text + " " + method
	p.mu.Lock()
	known := p.warned[about]
	p.warned[about] = true
	p.mu.Unlock()
	if !known {
		p.Log.Warn(text, append([]any{"method", method}, more...)...)
	}
}
