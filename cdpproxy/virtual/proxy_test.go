package virtual_test

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// anything is a cdpproxy.Rule that allows everything.
type anything struct{}

func (anything) Join(context.Context, *cdpproxy.Client) error { return nil }
func (anything) Register(*cdpproxy.Client, func(string))      {}
func (anything) Observe(*cdpproxy.Client, *browser.Message)   {}
func (anything) Unregister(*cdpproxy.Client)                  {}
func (anything) Judge(*cdpproxy.Client, *browser.Message) cdpproxy.Decision {
	return cdpproxy.Decision{Outcome: policy.Allow}
}

// presented is a cdpproxy.Source of one virtual browser.
type presented struct{ url string }

func (p presented) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	return &cdpproxy.Browser{Generation: 1, Name: "presented", URL: p.url}, nil
}

// endpoint serves the virtual browser at an endpoint with that rule, and returns HOST:PORT.
func (s *scene) endpoint(rule cdpproxy.Rule) string {
	s.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := cdpproxy.New(presented{s.url}, &cdpproxy.Options{Rule: rule})
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(ln) }()
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := proxy.Shutdown(ctx); err != nil {
			s.t.Error(err)
		}
		if err := <-served; err != nil {
			s.t.Error(err)
		}
	})
	return ln.Addr().String()
}

// choosing is a window's user.
type choosing struct {
	mu     sync.Mutex // guards the fields that follow
	state  policy.State
	chosen chan struct{}
}

func (u *choosing) Access() (policy.State, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state, u.chosen
}

func (u *choosing) Ask(ctx context.Context, _ policy.Question) (policy.Answer, error) {
	<-ctx.Done()
	return policy.Answer{}, ctx.Err()
}

func (u *choosing) choose(mode policy.Mode, stopped ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.chosen)
	u.state, u.chosen = policy.State{Mode: mode, Stopped: stopped}, make(chan struct{})
}

// TestNothingOfClientsGoesOnInSharedSessions: when the user chooses a stricter mode, or
// stops a client, its connection to the endpoint ends, and with it what it has set up in
// the session that it shares with the debugger.
func TestNothingOfClientsGoesOnInSharedSessions(t *testing.T) {
	s := newScene(t)
	user := &choosing{state: policy.State{Mode: policy.ModeFull}, chosen: make(chan struct{})}
	rule := access.NewRule(user, nil)
	t.Cleanup(func() { rule.Close() })
	endpoint := "ws://" + s.endpoint(rule) + "/devtools/browser/any"
	target := s.debug.only().target
	leftovers := cdptest.NewLeftovers(t, cdptest.Dial(t, cdptest.BrowserURL(t)), target)
	for _, step := range []struct {
		mode    policy.Mode
		stopped []string
		reason  string
	}{
		{policy.ModeAsk, nil, "stricter access mode"},
		{policy.ModeView, nil, "stricter access mode"},
		{policy.ModeFull, []string{"Tool"}, "stopped by the user"},
	} {
		user.choose(policy.ModeFull)
		c := cdptest.DialAs(t, endpoint, "Tool/1")
		leftovers.SetUp(c, c.Attach(target))
		user.choose(step.mode, step.stopped...)
		if reason := leftovers.Closed(); !strings.Contains(reason, step.reason) {
			t.Errorf("%s %v: closed with %q, want %q", step.mode, step.stopped, reason, step.reason)
		}
		leftovers.AwaitRemoval()
	}
}

// TestScriptOfABusyPageEnds: a script that a client adds while the page is busy ends with
// the client too, however long the page takes.
func TestScriptOfABusyPageEnds(t *testing.T) {
	s := newScene(t)
	stays, held := s.client()
	s.visit(stays, held, "/one")
	c, session := s.client()
	busy := stays.Start(held, "Runtime.evaluate",
		`{"expression":"const end = Date.now() + 4000; while (Date.now() < end); 1"}`)
	s.debug.untilReached("Runtime.evaluate", 1)
	c.Start(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.leftScript = 1"}`)
	s.debug.untilReached("Page.addScriptToEvaluateOnNewDocument", 1)
	c.Leave()
	stays.Answer(busy)
	s.debug.untilReached("Page.removeScriptToEvaluateOnNewDocument", 1)
	s.visit(stays, held, "/two")
	if got := stays.Evaluate(held, "typeof leftScript"); got != "undefined" {
		t.Errorf("the script of a client that has left: %s", got)
	}
}

// TestBehindTheEndpoint: cdpproxy accepts it as a browser. No response contains the
// secret, and clients keep their names.
func TestBehindTheEndpoint(t *testing.T) {
	s := newScene(t)
	host := s.endpoint(anything{})
	secret := strings.Split(s.url, "/")[3]
	for _, path := range []string{"/json/version", "/json/version/", "/json", "/json/list"} {
		status, body := cdptest.Request(t, "GET", "http://"+host+path)
		if status != 200 || strings.Contains(body, secret) || !strings.Contains(body, `"ws://`+host+`/devtools/`) {
			t.Error(path, status, body)
		}
	}
	var made struct{ ID, DevtoolsFrontendURL string }
	_, body := cdptest.Request(t, "PUT", "http://"+host+"/json/new?"+s.site+"/new")
	if err := json.Unmarshal([]byte(body), &made); err != nil || !strings.HasSuffix(made.DevtoolsFrontendURL,
		"?ws="+host+"/devtools/page/"+made.ID) {
		t.Error(err, made)
	}
	page := cdptest.Dial(t, "ws://"+host+"/devtools/page/"+made.ID)
	if got := page.Evaluate("", "6*7"); got != "42" {
		t.Error(got)
	}
	cdptest.Request(t, "GET", "http://"+host+"/json/close/"+made.ID)
	page.Ended()

	p := cdptest.Dial(t, "ws://"+host+"/devtools/browser/any")
	session := s.attach(p)
	if got := p.Evaluate(session, "'x'.repeat(3e7).length + location.href"); got != "30000000about:blank" {
		t.Error(got)
	}
	named := cdptest.DialAs(t, "ws://"+host+"/devtools/browser/any", "Playwright/1.65.1 (x64)")
	named.Call(s.attach(named), "Fetch.enable", "", nil)
	refused(t, p, session, "Playwright", "Fetch.enable", "")
}
