package cdpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestPortTakenOver: the window's browser has died and another window's browser
// listens on its port. No client may get a response from that one.
func TestPortTakenOver(t *testing.T) {
	mine := startFake(t, "127.0.0.1:0", "mine", nil)
	src := newSource(mine.url())
	_, addr := serve(t, src, &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold})
	if status, body := get(t, addr, "/json/list", nil); status != 200 || !strings.Contains(body, "mine") {
		t.Fatalf("HTTP %d %s", status, body)
	}
	mine.stop()
	other := startFake(t, mine.addr, "other", nil)
	for way, answer := range tryAll(t, addr, mine.url()) { // the other one also has a page 1
		if !strings.Contains(answer, "another browser listens") {
			t.Errorf("%s: %s", way, answer)
		}
	}
	// If clients are held, the window's next browser responds to them.
	_, held := serve(t, src, nil)
	before, ctx := other.asked.count(), testContext(t)
	answers := make(chan string)
	for _, path := range []string{"/devtools/browser/x", "/devtools/page/1"} {
		go func() {
			got, err := askOnce(ctx, held, path)
			answers <- fmt.Sprint(got, err)
		}()
	}
	other.asked.until(t, before+2)
	src.set("next", startFake(t, "127.0.0.1:0", "next", nil).url())
	for range 2 {
		if got := <-answers; got != "next<nil>" {
			t.Errorf("a client that was held is answered by %s", got)
		}
	}
}

// askOnce connects, sends one message and returns the response.
func askOnce(ctx context.Context, addr, path string) (string, error) {
	c, _, err := websocket.Dial(ctx, "ws://"+addr+path, nil)
	if err != nil {
		return "", err
	}
	defer c.CloseNow()
	if err := c.Write(ctx, websocket.MessageText, []byte(getVersion)); err != nil {
		return "", err
	}
	_, answer, err := c.Read(ctx)
	return string(answer), err
}

// TestNeverCross: the browsers of two windows restart all the time, often on a port
// that the other window has just used. Clients connect at any time. Each client
// gets responses of its own window's browser only, never of one that was replaced
// before the client connected.
//
// The browsers are fakes: 2,000 real ones would take an hour. CDPPROXY_ROUNDS sets
// more rounds.
func TestNeverCross(t *testing.T) {
	t.Parallel()
	const clients = 2
	rounds := rounds(t, 40)
	type window struct {
		name string
		src  *source
		addr string
		mu   sync.Mutex // guards gen
		gen  int        // the lowest generation that may respond from now on
	}
	windows := []*window{{name: "left"}, {name: "right"}}
	for _, w := range windows {
		w.src = newSource("")
		_, w.addr = serve(t, w.src, ruledOnly)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second+time.Duration(rounds)*time.Second)
	defer cancel()

	stop := make(chan struct{})
	var wg sync.WaitGroup
	var answers sync.Map
	paths := []string{"/devtools/browser/x", "/devtools/page/1"}
	ask := func(w *window) error {
		w.mu.Lock()
		least := w.gen
		w.mu.Unlock()
		c, _, err := websocket.Dial(ctx, "ws://"+w.addr+paths[rand.IntN(2)], nil)
		if err != nil {
			return fmt.Errorf("dial: %w", err)
		}
		defer c.CloseNow()
		first := ""
		for range 1 + rand.IntN(20) {
			var name []byte
			if err = c.Write(ctx, websocket.MessageText, []byte(getVersion)); err == nil {
				_, name, err = c.Read(ctx)
			}
			if err != nil {
				return nil // the browser was replaced during the handshake
			}
			if first == "" {
				first = string(name)
			}
			if string(name) != first {
				return fmt.Errorf("one connection answered by %s and by %s", first, name)
			}
			side, gen, _ := strings.Cut(string(name), " ")
			n, err := strconv.Atoi(gen)
			if side != w.name || err != nil || n < least {
				return fmt.Errorf("client of %s, come at generation %d, answered by %s", w.name, least, name)
			}
			answers.Store(string(name), true)
		}
		return nil
	}
	for _, w := range windows {
		for range clients {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := ask(w); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	// Every browser of a round takes the address of the other window's last one.
	left, right := startFake(t, "127.0.0.1:0", "left 0", nil), startFake(t, "127.0.0.1:0", "right 0", nil)
	for round := 1; round <= rounds; round++ {
		windows[0].src.set(left.name, left.url())
		windows[1].src.set(right.name, right.url())
		for _, w := range windows {
			w.mu.Lock()
			w.gen = round - 1
			w.mu.Unlock()
			// One client is served in each round, so that every round counts.
			if err := ask(w); err != nil {
				t.Error(err)
			}
		}
		left.stop()
		right.stop()
		if round%3 == 0 {
			windows[round%2].src.set("", "")
		}
		left, right = startFake(t, right.addr, fmt.Sprintf("left %d", round), nil), startFake(t, left.addr, fmt.Sprintf("right %d", round), nil)
	}
	windows[0].src.set(left.name, left.url())
	windows[1].src.set(right.name, right.url())
	close(stop)
	wg.Wait()
	count := 0
	answers.Range(func(any, any) bool { count++; return true })
	if count < rounds {
		t.Errorf("only %d of %d browsers were ever asked", count, 2*rounds)
	}
}

// TestManyClientsOldBrowser: many clients connect while their first browser
// is killed and another replaces it. No client is refused. Clients of the old
// browser get the reason and connect again.
func TestManyClientsOldBrowser(t *testing.T) {
	t.Parallel()
	const clients = 150
	old, next := cdptest.Launch(t), cdptest.Shared(t)
	src := newSource(old.URL())
	_, addr := serve(t, src, ruledOnly)
	ctx := testContext(t)
	var served counter // by the old one
	errs := make(chan error, clients)
	for range clients {
		go func() { errs <- untilServed(ctx, addr, next.PID(), &served) }()
	}
	served.until(t, 20)
	cdptest.Kill(old)
	src.set("next", next.URL())
	for range clients {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the old browser served %d of %d first", served.count(), clients)
}

// untilServed connects until the browser with that process id has responded. others
// counts the responses of another browser, whose end the client awaits.
func untilServed(ctx context.Context, addr string, pid int, others *counter) error {
	for {
		c, _, err := websocket.Dial(ctx, "ws://"+addr+"/devtools/browser/old", nil)
		if err != nil {
			return err
		}
		c.SetReadLimit(-1)
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"SystemInfo.getProcessInfo"}`)) // Read returns the error
		_, answer, err := c.Read(ctx)
		if err == nil && strings.Contains(string(answer), fmt.Sprintf(`"id":%d,`, pid)) {
			return c.CloseNow()
		}
		if err == nil {
			others.add()
			_, _, err = c.Read(ctx)
		}
		c.CloseNow()
		var closed websocket.CloseError
		if !errors.As(err, &closed) || !strings.Contains(closed.Reason, `browser "first"`) {
			return fmt.Errorf("a client of the old browser got %w", err)
		}
	}
}

// TestNotRepeated: a mutating request is sent once, even if the browser dies during
// it; a read-only one is sent to the next browser.
func TestNotRepeated(t *testing.T) {
	t.Parallel()
	dying := startFake(t, "127.0.0.1:0", "dying", nil)
	dying.dies.Store(true)
	src := newSource(dying.url())
	_, addr := serve(t, src, nil)
	status, body := get(t, addr, "/json/new?about:blank", nil)
	// The version, and once for the tab.
	if status != 502 || !strings.Contains(body, "not asked again") || dying.asked.count() != 2 {
		t.Errorf("HTTP %d %s, asked %d times", status, body, dying.asked.count())
	}

	type answer struct {
		status int
		body   string
	}
	got := make(chan answer, 1)
	go func() {
		status, body, _ := tryGet(addr, "/json/list", nil)
		got <- answer{status, body}
	}()
	dying.asked.until(t, 4)
	src.set("next", startFake(t, "127.0.0.1:0", "next", nil).url())
	if a := <-got; a.status != 200 || !strings.Contains(a.body, "next") {
		t.Errorf("a reading request: HTTP %d %s", a.status, a.body)
	}
}

// TestBrowserRecovers: a held client is served when a browser that did not respond
// recovers, without any notification. A mutating request is not sent twice.
func TestBrowserRecovers(t *testing.T) {
	t.Parallel()
	fake := startFake(t, "127.0.0.1:0", "faint", nil)
	fake.dies.Store(true)
	src := newSource(fake.url())
	_, addr := serve(t, src, nil)
	served := make(chan error, 2)
	go func() {
		c, _, err := websocket.Dial(testContext(t), "ws://"+addr+"/devtools/browser/x", nil)
		if err == nil {
			c.CloseNow()
		}
		served <- err
	}()
	go func() {
		status, body, err := tryGet(addr, "/json/list", nil)
		if err == nil && status != 200 {
			err = fmt.Errorf("HTTP %d %s", status, body)
		}
		served <- err
	}()
	fake.asked.until(t, 1+2+1+2) // both twice, with the version for the list
	fake.dies.Store(false)
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}

	gone := startFake(t, "127.0.0.1:0", "gone", nil)
	gone.stop()
	rule := newRule()
	_, addr = serve(t, newSource(gone.url()), &cdpproxy.Options{Rule: rule, HoldTimeout: time.Second})
	if status, body := get(t, addr, "/json/new?about:blank", nil); status != 502 || !strings.Contains(body, "does not answer") {
		t.Errorf("HTTP %d %s", status, body)
	}
	rule.mu.Lock()
	defer rule.mu.Unlock()
	if !slices.Equal(rule.seen, []string{"Target.createTarget"}) {
		t.Errorf("judged: %q", rule.seen)
	}
}
