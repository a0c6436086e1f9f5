package cdpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// user is a fake user of a window. The window's protocol is tested where it is
// connected to this.
type user struct {
	asked  chan policy.Question // each question
	answer chan policy.Answer   // for the first question that waits
	// withdrawn has a value for each question that ended without an answer.
	withdrawn chan struct{}

	mu      sync.Mutex // guards the fields that follow
	state   policy.State
	changed chan struct{}
}

func newUser(mode policy.Mode) *user {
	return &user{
		asked: make(chan policy.Question, 100), answer: make(chan policy.Answer), withdrawn: make(chan struct{}, 100),
		state: policy.State{Mode: mode}, changed: make(chan struct{}),
	}
}

func (h *user) Access() (policy.State, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state, h.changed
}

func (h *user) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	h.asked <- q
	select {
	case a := <-h.answer:
		return a, nil
	case <-ctx.Done():
		h.withdrawn <- struct{}{}
		return policy.Answer{}, ctx.Err()
	}
}

func (h *user) choose(mode policy.Mode, stopped ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Mode, h.state.Stopped = mode, stopped
	close(h.changed)
	h.changed = make(chan struct{})
}

// attempt is an attempt to connect.
type attempt struct {
	conn   *websocket.Conn // nil: it was refused
	status string          // the status line of a refusal
}

// attempting tries to connect as a program of that name, until ctx ends.
func attempting(ctx context.Context, t *testing.T, addr, agent string) <-chan attempt {
	t.Helper()
	done := make(chan attempt, 1)
	go func() {
		conn, res, err := websocket.Dial(ctx, "ws://"+addr+"/devtools/browser/x",
			&websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {agent}}})
		if err == nil {
			done <- attempt{conn: conn}
		} else if res != nil {
			done <- attempt{status: res.Status}
		} else {
			done <- attempt{status: err.Error()}
		}
	}()
	return done
}

// next returns the next value of a channel.
func next[T any](t *testing.T, description string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-testContext(t).Done():
		t.Fatalf("no %s", description)
		panic("unreachable")
	}
}

// admitted waits until the attempt has succeeded.
func admitted(t *testing.T, tried <-chan attempt) *websocket.Conn {
	t.Helper()
	a := next(t, "connection", tried)
	if a.conn == nil {
		t.Fatalf("refused: %s", a.status)
	}
	t.Cleanup(func() { a.conn.CloseNow() })
	a.conn.SetReadLimit(-1)
	return a.conn
}

// turnedAway waits until the attempt was refused for that reason.
func turnedAway(t *testing.T, tried <-chan attempt, reason string) {
	t.Helper()
	if a := next(t, "refusal", tried); a.conn != nil || !strings.HasPrefix(a.status, "403 refused: ") ||
		!strings.Contains(a.status, reason) {
		t.Errorf("got %+v, want a refusal: %s", a, reason)
	}
}

const openTabCommand = `{"id":1,"method":"Target.createTarget","params":{"url":"about:blank#asked"}}`

// mayAct opens a tab, and closes it.
func mayAct(t *testing.T, c *websocket.Conn) {
	t.Helper()
	result, ok := exchange(t, c, openTabCommand)["result"].(map[string]any)
	if !ok {
		t.Error("the client may not act")
		return
	}
	exchange(t, c, fmt.Sprintf(`{"id":2,"method":"Target.closeTarget","params":{"targetId":%q}}`, result["targetId"]))
}

// mayLook fails if the client may do more or less than look.
func mayLook(t *testing.T, c *websocket.Conn, mode policy.Mode) {
	t.Helper()
	if got := call(t, c, getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("the client gets %s", got)
	}
	if reply := exchange(t, c, openTabCommand); !strings.Contains(refusal(reply),
		fmt.Sprintf("the access mode is %q", mode)) {
		t.Errorf("%v, want a refusal", reply)
	}
}

// TestAsk: in the mode ask the user is asked once for each program, however many
// connections it opens. The answer counts until the program has been away for a minute.
func TestAsk(t *testing.T) {
	t.Parallel()
	inEach(t, askedOncePerProgram)
}

func askedOncePerProgram(t *testing.T, up upstream) {
	h := newUser(policy.ModeAsk)
	_, addr := ruled(t, h, up.url, nil)
	ctx := testContext(t)

	many := make([]<-chan attempt, 3)
	for i := range many {
		many[i] = attempting(ctx, t, addr, "Playwright/1.65.1 (x64)")
	}
	q := next(t, "question", h.asked)
	if q.Operation.Name != "connect" || q.Actor.Kind != policy.Client || q.Actor.Name != "Playwright" ||
		q.Actor.Version != "1.65.1" || q.Actor.ID == "" {
		t.Errorf("the user is asked %+v", q)
	}
	// Discovery asks nobody.
	for _, path := range []string{"/json/version", "/json/list"} {
		if status, body := get(t, addr, path, nil); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	h.answer <- policy.Answer{Allow: true}
	for _, each := range many {
		c := admitted(t, each)
		mayAct(t, c)
		c.CloseNow()
	}
	mayAct(t, admitted(t, attempting(ctx, t, addr, "Playwright/1.65.1 (x64)"))) // it comes back

	looks := attempting(ctx, t, addr, "Puppeteer 24.43.1")
	next(t, "question", h.asked)
	h.answer <- policy.Answer{View: true}
	mayLook(t, admitted(t, looks), policy.ModeAsk)
	mayLook(t, admitted(t, attempting(ctx, t, addr, "Puppeteer 24.43.1")), policy.ModeAsk)

	no := attempting(ctx, t, addr, "No/1")
	next(t, "question", h.asked)
	h.answer <- policy.Answer{Reason: "human"}
	turnedAway(t, no, "does not let this client connect")
	turnedAway(t, attempting(ctx, t, addr, "No/1"), "does not let this client connect. The user can be asked again in")

	late := attempting(ctx, t, addr, "Late/1")
	next(t, "question", h.asked)
	h.answer <- policy.Answer{Reason: "timeout"}
	turnedAway(t, late, "nobody answered the question")
	if len(h.asked) > 0 {
		t.Errorf("the user was also asked %+v", <-h.asked)
	}
	late = attempting(ctx, t, addr, "Late/1") // nobody has refused it
	next(t, "question", h.asked)
	h.answer <- policy.Answer{Allow: true}
	mayAct(t, admitted(t, late))
}

// TestAskForAProgram: where the system reports the program, that is the client, whatever
// name it gives itself. So no program can ask again and again.
func TestAskForAProgram(t *testing.T) {
	if !cdpproxy.PeerProof {
		t.Skip("this system does not report the program")
	}
	for _, answer := range []policy.Answer{{Allow: true}, {Reason: "human"}} {
		h := newUser(policy.ModeAsk)
		_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
		known := cdpproxy.KnowPrograms()
		first := attempting(testContext(t), t, addr, "First/1")
		next(t, "question", h.asked)
		h.answer <- answer
		var last *websocket.Conn
		for _, tried := range []<-chan attempt{first, attempting(testContext(t), t, addr, "Second/1")} {
			if answer.Allow {
				last = admitted(t, tried)
				mayAct(t, last)
			} else {
				turnedAway(t, tried, "does not let this client connect")
			}
		}
		if len(h.asked) > 0 {
			t.Errorf("the user was also asked %+v", <-h.asked)
		}
		if answer.Allow { // stopped under one name, it is asked about under another
			h.choose(policy.ModeAsk, "Second")
			_, _, _ = last.Read(testContext(t))
			third := attempting(testContext(t), t, addr, "Third/1")
			next(t, "question about a stopped program", h.asked)
			h.answer <- policy.Answer{Reason: "human"}
			turnedAway(t, third, "does not let this client connect")
		}
		known()
	}
}

// TestAskForRequests: a mutating discovery request counts as a client's connection.
func TestAskForRequests(t *testing.T) {
	t.Parallel()
	h := newUser(policy.ModeAsk)
	_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	id, _ := directTab(t, "about:blank")
	request := func(agent string) <-chan string {
		done := make(chan string, 1)
		go func() {
			req, _ := http.NewRequestWithContext(testContext(t), http.MethodGet, "http://"+addr+"/json/activate/"+id,
				nil)
			req.Header.Set("User-Agent", agent)
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				done <- err.Error()
				return
			}
			res.Body.Close()
			done <- res.Status
		}()
		return done
	}
	for _, step := range []struct {
		agent, status string
		answer        policy.Answer
	}{
		{"Allowed/1", "200 OK", policy.Answer{Allow: true}},
		{"Views/1", `403 refused: Target.activateTarget refused: the access mode is "ask", and`,
			policy.Answer{View: true}},
		{"Refused/1", "403 refused: the user of the window does not let this client connect",
			policy.Answer{Reason: "human"}},
	} {
		first := request(step.agent)
		next(t, "question", h.asked)
		h.answer <- step.answer
		for range 2 { // the second is not asked for
			if status := next(t, "response", first); !strings.HasPrefix(status, step.status) {
				t.Errorf("%s: %s", step.agent, status)
			}
			first = request(step.agent)
		}
	}
	if len(h.asked) > 0 {
		t.Errorf("the user was also asked %+v", <-h.asked)
	}
}

// TestAskedClientLeaves: the question ends with the last client that waits for it.
func TestAskedClientLeaves(t *testing.T) {
	t.Parallel()
	h := newUser(policy.ModeAsk)
	_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	ctx, leave := context.WithCancel(testContext(t))
	gone := attempting(ctx, t, addr, "Tool/1")
	next(t, "question", h.asked)
	leave()
	next(t, "end of the attempt", gone)
	next(t, "end of the question", h.withdrawn)
	conn := connect(t, addr) // net/http does not notice that this one leaves
	io.WriteString(conn, upgradeRequest(addr, "/devtools/browser/x"))
	next(t, "question", h.asked)
	io.WriteString(conn, masked(getVersion))
	next(t, "end of the question", h.withdrawn)
	conn.Close()
	again := attempting(testContext(t), t, addr, "Tool/1")
	next(t, "question", h.asked)
	h.answer <- policy.Answer{Allow: true}
	mayAct(t, admitted(t, again))
}

// mute is a user who cannot be asked.
type mute struct{ *user }

func (mute) Ask(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{}, errors.New("this window has no such command")
}

// TestNobodyToAsk: where nobody can be asked, clients may look.
func TestNobodyToAsk(t *testing.T) {
	rule := access.NewRule(mute{newUser(policy.ModeAsk)}, nil)
	t.Cleanup(func() { rule.Close() }) // after the endpoint is closed
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule})
	mayLook(t, dial(t, addr, "/devtools/browser/x"), policy.ModeAsk)
}

// TestModeChanges: a new mode applies at once, also to clients that wait for an answer. A
// stricter one ends the connections of all clients, which may join again, and the user's
// answers.
func TestModeChanges(t *testing.T) {
	t.Parallel()
	inEach(t, modeChanges)
}

func modeChanges(t *testing.T, up upstream) {
	h := newUser(policy.ModeFull)
	_, addr := ruled(t, h, up.url, nil)
	join := func() <-chan attempt { t.Helper(); return attempting(testContext(t), t, addr, "Tool/1") }
	stricter := func(mode policy.Mode, conns ...*websocket.Conn) {
		t.Helper()
		h.choose(mode)
		for _, c := range conns {
			var closed websocket.CloseError
			for err := error(nil); !errors.As(err, &closed); _, _, err = c.Read(testContext(t)) {
				if err != nil {
					t.Fatalf("%s: %v", mode, err)
				}
			}
			if closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason,
				"stricter access mode in the window; connect again") {
				t.Errorf("%s: closed with %v", mode, closed)
			}
		}
	}
	c, other := admitted(t, join()), admitted(t, join())
	mayAct(t, c)
	stricter(policy.ModeView, c, other)
	c = admitted(t, join())
	mayLook(t, c, policy.ModeView)
	h.choose("a newer window's") // which counts as view
	mayLook(t, c, "a newer window's")
	h.choose(policy.ModeAsk) // nobody was asked for it
	mayLook(t, c, policy.ModeAsk)
	h.choose(policy.ModeFull)
	mayAct(t, c)
	stricter(policy.ModeAsk, c)

	asked := func(waits <-chan attempt) <-chan attempt { t.Helper(); next(t, "question", h.asked); return waits }
	waits := asked(join())
	h.choose(policy.ModeFull)
	c = admitted(t, waits)
	mayAct(t, c)
	stricter(policy.ModeAsk, c)
	waits = asked(join())
	h.choose(policy.ModeView)
	mayLook(t, admitted(t, waits), policy.ModeView)
	h.choose(policy.ModeAsk)
	waits = asked(join())
	h.answer <- policy.Answer{Allow: true}
	c = admitted(t, waits)
	mayAct(t, c)
	stricter(policy.ModeView, c)
	h.choose(policy.ModeAsk)
	waits = asked(join()) // the answer is void
	h.choose(policy.ModeAsk, "Tool")
	turnedAway(t, waits, "stopped by the user")
}

// TestPlaywrightGetsException: Playwright gets the refusal of a script as an exception,
// the only error of a script that it does not take for a navigation.
func TestPlaywrightGetsException(t *testing.T) {
	_, addr := ruled(t, newUser(policy.ModeView), cdptest.BrowserURL(t), nil)
	c := dialAs(t, addr, "Playwright/1.65.1 (x64)")
	reply := exchange(t, c, `{"id":1,"sessionId":"s","method":"Runtime.evaluate","params":{"expression":"1"}}`)
	if text := fmt.Sprint(reply); reply["id"] != 1.0 || reply["sessionId"] != "s" || reply["error"] != nil ||
		!strings.Contains(text, "exceptionDetails") ||
		!strings.Contains(text, `Runtime.evaluate refused: the access mode is "view"`) {
		t.Errorf("%v", reply)
	}
	if reply := exchange(t, c,
		`{"id":2,"method":"Target.createTarget","params":{"url":"about:blank"}}`); !strings.Contains(refusal(reply),
		`"view"`) {
		t.Errorf("%v", reply)
	}
}

// TestStopped: a stopped client is disconnected at once with all its connections.
// It cannot connect again, also at another coordinator, until the user lifts the
// stop. Other clients are not affected.
func TestStopped(t *testing.T) {
	h := newUser(policy.ModeFull)
	rule, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	join := func(agent string) *websocket.Conn { t.Helper(); return dialAs(t, addr, agent) }
	waitFor := func(names ...string) {
		t.Helper()
		for {
			clients, changed := rule.Clients()
			var got []string
			for _, c := range clients {
				got = append(got, c.Name)
			}
			if slices.Equal(got, names) {
				return
			}
			select {
			case <-changed:
			case <-time.After(10 * time.Second):
				t.Fatalf("connected are %v, want %v", got, names)
			}
		}
	}
	sentAway := func(c *websocket.Conn) {
		t.Helper()
		if _, _, err := c.Read(testContext(t)); !closes(err, websocket.StatusPolicyViolation, "stopped by the user") {
			t.Errorf("%v", err)
		}
	}
	bad := join("Bad/1")
	waitFor("Bad")
	again := join("Bad/1")
	waitFor("Bad", "Bad")
	good := join("Good/1")
	waitFor("Bad", "Bad", "Good")

	h.choose(policy.ModeFull, "Bad")
	sentAway(bad)
	sentAway(again)
	call(t, good, getVersion)
	refusedAt := func(addr string) {
		t.Helper()
		turnedAway(t, attempting(testContext(t), t, addr, "Bad/2 (another version)"), "stopped by the user")
	}
	refusedAt(addr)
	if status, body := get(t, addr, "/json/activate/x", map[string]string{"User-Agent": "Bad/1"}); status != 403 ||
		!strings.Contains(body, "stopped by the user") {
		t.Errorf("by HTTP: %d %s", status, body)
	}
	waitFor("Good")
	// Another coordinator knows the client only by the window's list.
	_, second := ruled(t, h, cdptest.BrowserURL(t), nil)
	refusedAt(second)
	call(t, dialAs(t, second, "Good/1"), getVersion)

	h.choose(policy.ModeFull)
	waitFor("Good")
	call(t, join("Bad/1"), getVersion)
	waitFor("Good", "Bad")
}
