package cdpproxy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
)

// TestPortTakenOver: the window's browser has died and another window's browser
// listens on its port. No held client gets a response from that one, but from the
// window's next browser.
func TestPortTakenOver(t *testing.T) {
	mine := startFake(t, freeAddress(), "mine", nil)
	src := newSource(mine.url())
	mine.stop()
	other := startFake(t, mine.addr, "other", nil) // which also has a page 1
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
		_, w.addr = serve(t, w.src, nil)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second+time.Duration(rounds)*time.Second)
	defer cancel()

	stop := make(chan struct{})
	var wg sync.WaitGroup
	var answers sync.Map
	paths := []string{"/devtools/browser/x", "/devtools/page/1"}
	ask := func(w *window) error {
		w.mu.Lock()
		minimum := w.gen
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
			if side != w.name || err != nil || n < minimum {
				return fmt.Errorf("client of %s, come at generation %d, answered by %s", w.name, minimum, name)
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
	left, right := startFake(t, freeAddress(), "left 0", nil), startFake(t, freeAddress(), "right 0", nil)
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
		left, right = startFake(t, right.addr, fmt.Sprintf("left %d", round), nil), startFake(t, left.addr,
			fmt.Sprintf("right %d", round), nil)
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

// freeAddress is one that is listened on again later: its port is below those that the system gives connections.
func freeAddress() string {
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(10_000))
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
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
	rule := new(testRule)
	_, addr = serve(t, newSource(gone.url()), &cdpproxy.Options{Rule: rule, HoldTimeout: time.Second})
	if status, body := get(t, addr, "/json/new?about:blank", nil); status != 502 ||
		!strings.Contains(body, "does not answer") {
		t.Errorf("HTTP %d %s", status, body)
	}
	rule.mu.Lock()
	defer rule.mu.Unlock()
	if !slices.Equal(rule.seen, []string{"Target.createTarget"}) {
		t.Errorf("judged: %q", rule.seen)
	}
}
