package provider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// queueTimeout bounds the wait for a session. The grid's own limit is lower as a rule
	// (--session-request-timeout, 300 s by default).
	queueTimeout = time.Hour
	// requestTimeout bounds the other requests to the grid.
	requestTimeout = 10 * time.Second
	// endTimeout bounds the end of a session.
	endTimeout = 5 * time.Second
	// cancelTimeout bounds the wait for a session that starts while its request is
	// cancelled, to end it.
	cancelTimeout = 10 * time.Second
	// defaultSessionTimeout is the grid's default of --session-timeout.
	defaultSessionTimeout = 300 * time.Second
	// shortestSessionTimeout bounds the rate of requests that keep a session alive.
	shortestSessionTimeout = 3 * time.Second
	// unreachable is how many requests in a row must fail until a session whose node
	// cannot be reached is given up.
	unreachable = 3
)

// grid is a Selenium Grid 4, with one session at a time. If this process is killed, the grid
// ends the session after its --session-timeout.
type grid struct {
	*source
	address Address
	// capabilities are requested of the browser (WebDriver section 7), as alwaysMatch.
	capabilities map[string]any
	log          *slog.Logger

	session *session // nil: none
}

func newGrid(a Address, capabilities map[string]any, log *slog.Logger) *source {
	g := &grid{address: a, capabilities: capabilities, log: log}
	g.source = &source{name: "Selenium Grid " + a.Place(), open: g.open, release: g.end}
	return g.source
}

// session is a session in the grid.
type session struct {
	webdriver
	id      string
	cdp     string        // address of its CDP WebSocket
	timeout time.Duration // after which the grid ends a session without requests
	log     *slog.Logger
}

// open waits in the grid's queue until ctx ends. If only the connection broke, the session
// goes on.
func (g *grid) open(ctx context.Context) (*connection, error) {
	if s := g.session; s != nil && s.endReason(ctx) != nil {
		g.session = nil
	}
	fresh := g.session == nil
	if fresh {
		created, err := g.create(ctx, newWebdriver(g.address))
		if err != nil {
			return nil, err
		}
		g.session = created
	}
	c, err := connect(ctx, g.address, g.session.cdp, g.session, g.log)
	if fresh && err != nil || errors.As(err, new(*RefusedError)) { // the next call gets another one
		err = errors.Join(err, g.end())
	}
	return c, err
}

// end ends the session, if there is one.
func (g *grid) end() error {
	s := g.session
	g.session = nil
	if s == nil {
		return nil
	}
	return s.end()
}

// requestCapability has the id of a request for a session, by which it is found in the
// grid's queue. Nodes ignore capabilities with the prefix se: that they do not know.
const requestCapability = "se:browserCoordinatorRequest"

// created is the response to a request for a session.
type created struct {
	ID           string `json:"sessionId"`
	Capabilities struct {
		Browser string `json:"browserName"`
		CDP     string `json:"se:cdp"`
	} `json:"capabilities"`
}

// create requests a session and waits for it.
func (g *grid) create(ctx context.Context, w webdriver) (*session, error) {
	capabilities := map[string]any{"browserName": "chrome", "se:name": "Browser Coordinator"}
	maps.Copy(capabilities, g.capabilities)
	id := rand.Text()
	capabilities[requestCapability] = id
	request := map[string]any{"capabilities": map[string]any{"alwaysMatch": capabilities}}

	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var got created
	response := make(chan error, 1)
	go func() { response <- w.do(sending, http.MethodPost, "/session", request, &got, queueTimeout) }()
	err := g.await(ctx, w, id, response)
	if err == nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), (&session{webdriver: w, id: got.ID}).end())
	}
	if err == nil && (got.ID == "" || url.PathEscape(got.ID) != got.ID) {
		err = w.noGrid()
	}
	if errors.As(err, new(*unexpected)) {
		return nil, fmt.Errorf("%s created no session: %w", g.name, err)
	}
	if err != nil {
		return nil, err
	}
	s := &session{webdriver: w, id: got.ID, timeout: sessionTimeout(ctx, w), log: g.log}
	if s.cdp, err = w.reachable(got.Capabilities.CDP); err != nil {
		return nil, errors.Join(fmt.Errorf("the grid's browser %s %w: request chrome or MicrosoftEdge with "+
			"--grid-capability", got.Capabilities.Browser, err), s.end())
	}
	g.log.Info("the grid has opened a session", "session", s.id)
	return s, nil
}

// await waits for the response to a request for a session, and reports the place in the
// grid's queue meanwhile. When ctx ends it leaves the queue. A session that is already
// starting then is waited for, so that the caller can end it.
func (g *grid) await(ctx context.Context, w webdriver, id string, response <-chan error) error {
	start, reported := time.Now(), time.Now()
	last := 0
	for pause := time.Second; ; {
		select {
		case err := <-response:
			return err
		case <-time.After(pause):
		case <-ctx.Done():
			ending := time.After(cancelTimeout)
			if _, queued, _ := w.place(context.WithoutCancel(ctx), id); queued > 0 {
				return context.Cause(ctx)
			}
			g.log.Warn(fmt.Sprintf("the session is starting: waiting up to %v to end it", cancelTimeout))
			select {
			case err := <-response:
				return err
			case <-ending:
				return context.Cause(ctx)
			}
		}
		length, place, err := w.place(ctx, id)
		text := fmt.Sprintf("waiting for a browser of %s for %v", g.name, time.Since(start).Round(time.Second))
		if err == nil && place > 0 {
			text += fmt.Sprintf(": request %d of %d in its queue", place, length)
		}
		g.waiting.Store(&text)
		if err == nil && place != last || time.Since(reported) >= reportInterval {
			last, reported = place, time.Now()
			g.log.Warn(text)
		}
		pause = min(max(time.Second, time.Duration(length)*pausePerRequest), reportInterval)
	}
}

const (
	// pausePerRequest, for each request in the grid's queue, is the pause between two looks
	// at it: up to 150 that wait there look ten times a second together.
	pausePerRequest = 100 * time.Millisecond
	// reportInterval is the pause between reports of an unchanged place in the queue.
	reportInterval = 15 * time.Second
)

// place is the place of a request in the grid's queue, from 1; 0: it is not in it.
func (w webdriver) place(ctx context.Context, id string) (length, place int, err error) {
	var queue []struct {
		Capabilities []map[string]any `json:"capabilities"`
	}
	err = w.do(ctx, http.MethodGet, "/se/grid/newsessionqueue/queue", nil, &queue, requestTimeout)
	for i, request := range queue {
		for _, c := range request.Capabilities {
			if c[requestCapability] == id {
				place = i + 1
			}
		}
	}
	return len(queue), place, err
}

// sessionTimeout is the shortest of the grid's nodes.
func sessionTimeout(ctx context.Context, w webdriver) time.Duration {
	var status struct {
		Nodes []struct {
			Timeout int64 `json:"sessionTimeout"` // ms
		} `json:"nodes"`
	}
	timeout := defaultSessionTimeout
	_ = w.do(ctx, http.MethodGet, "/status", nil, &status, requestTimeout) // the default is a good guess
	for _, n := range status.Nodes {
		if each := time.Duration(n.Timeout) * time.Millisecond; each > 0 {
			timeout = min(timeout, each)
		}
	}
	return max(timeout, shortestSessionTimeout)
}

// reachable is the address of a session's CDP WebSocket: its path at the grid's address
// that the user named. The grid may know itself by another name.
func (w webdriver) reachable(reported string) (string, error) {
	u, err := url.Parse(reported)
	if err != nil || u.Path == "" {
		return "", errors.New("offers no CDP address (se:cdp)")
	}
	u.Scheme, u.Host, u.User = "ws"+strings.TrimPrefix(w.base.Scheme, "http"), w.base.Host, nil
	if u.RawQuery == "" {
		u.RawQuery = w.base.RawQuery
	}
	if !strings.HasPrefix(u.Path, w.base.Path+"/") {
		u.Path = w.base.Path + u.Path
	}
	return u.String(), nil
}

func (s *session) get(ctx context.Context, path string) error {
	return s.do(ctx, http.MethodGet, "/session/"+s.id+path, nil, nil, requestTimeout)
}

// keepAlive sends requests until ctx ends: the grid counts only WebDriver commands as
// activity. This command needs no page, and handles no dialog.
func (s *session) keepAlive(ctx context.Context) {
	ticker := time.NewTicker(s.timeout / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := s.get(ctx, "/timeouts"); err != nil && ctx.Err() == nil {
			s.log.Info("the grid's session could not be kept alive", "error", err)
		}
	}
}

// endReason asks the grid how the session has ended; nil: it has not, or the grid does not
// respond. The grid keeps the WebSocket of a session open whose browser or node has
// ended. Only a command that needs the browser reports that.
func (s *session) endReason(ctx context.Context) error {
	for n := 1; ; n++ {
		err := s.get(ctx, "/window/handles")
		failed := new(unexpected)
		switch {
		case !errors.As(err, &failed):
			return nil
		case failed.Code == "invalid session id":
			return errors.New("the grid has ended the session")
		case n == unreachable:
			return fmt.Errorf("the grid cannot reach the session's node: %w", failed)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
	}
}

// end ends the session.
func (s *session) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	err := s.do(ctx, http.MethodDelete, "/session/"+s.id, nil, nil, endTimeout)
	if failed, ok := errors.AsType[*unexpected](err); ok && failed.Code == "invalid session id" {
		return nil // it has ended already
	}
	if err != nil {
		return fmt.Errorf("the grid's session could not be ended, so it ends by its timeout: %w", err)
	}
	return nil
}
