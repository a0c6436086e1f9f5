package cdplog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/discovery"
)

// Player replays a recording as a browser. Each client that connects plays the part of a
// recorded client with the same path.
type Player struct {
	// Log: nil discards. Set it before Serve.
	Log *slog.Logger
	// Admission decides which clients are admitted. Nil: on Linux, programs of the same user.
	// Set it before Serve.
	Admission *cdpproxy.Admission

	head   Line
	cut    string // why the recording ends too early; empty: it does not
	server *http.Server
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	warned sync.Map // texts with their methods

	mu      sync.Mutex // guards the fields that follow, and part.played
	parts   []*part    // in the order in which they joined
	playing sync.WaitGroup
}

// maxMessage is the largest message that Chromium accepts.
const maxMessage = 100 << 20

// part is the traffic of one recorded client.
type part struct {
	client Client
	lines  []Line
	played int // how often
}

// Open reads a recording.
func Open(r io.Reader) (*Player, error) {
	p := &Player{Log: slog.New(slog.DiscardHandler)}
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
		err = errors.New("no client sent a message while this was recorded")
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

// document responds with a recorded discovery document, its addresses replaced by the
// replay's.
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

// samePath reports whether two paths lead to the same page, or both to the browser.
func samePath(a, b string) bool {
	const browser = "/devtools/browser/"
	a, b = strings.TrimSuffix(a, "/")+"/", strings.TrimSuffix(b, "/")+"/"
	return a == b || strings.HasPrefix(a, browser) && strings.HasPrefix(b, browser)
}

// choose returns a part for a client of that name. It prefers parts that a client of the
// same name has played, and among those the least played one. nil: no recorded client
// connected to that path.
func (p *Player) choose(path, name string) (best *part) {
	for _, each := range p.parts {
		if !samePath(each.client.Path, path) {
			continue
		}
		same := each.client.Name == name
		bestSame := best != nil && best.client.Name == name
		if best == nil || same && !bestSame || same == bestSame && each.played < best.played {
			best = each
		}
	}
	return best
}

func (p *Player) join(w http.ResponseWriter, r *http.Request, path string) {
	name, version := cdpproxy.GuessName(r.UserAgent(), r.Header.Get("Origin"))
	p.mu.Lock()
	known, ended := p.choose(path, name) != nil, p.ctx.Err() != nil
	if known && !ended {
		p.playing.Add(1)
		defer p.playing.Done()
	}
	p.mu.Unlock()
	switch {
	case !known:
		p.Log.Warn("a client connects to a path to which none connected while this was recorded", "path", path)
		http.Error(w, "nobody connected to "+path+" while this was recorded", http.StatusNotFound)
		return
	case ended:
		http.Error(w, "the replay has ended", http.StatusServiceUnavailable)
		return
	}
	// Admission has checked Origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	p.mu.Lock()
	chosen := p.choose(path, name)
	chosen.played++
	p.mu.Unlock()
	if was := chosen.client; was.Name != name || was.Version != version {
		p.Log.Warn("a client plays the part of another one: it may send other commands", "client", strings.TrimSpace(name+" "+version), "recorded", strings.TrimSpace(was.Name+" "+was.Version))
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	err = newPlay(chosen.lines, p.warn).run(ctx, conn)
	p.Log.Debug("a client left the replay", "client", chosen.client.Name, "error", err)
}

// warn logs each text once per method, with details the first time.
func (p *Player) warn(text, method string, more ...any) {
	if _, known := p.warned.LoadOrStore(text+" "+method, true); !known {
		p.Log.Warn(text, append([]any{"method", method}, more...)...)
	}
}
