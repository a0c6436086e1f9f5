package vscodeipc

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"browser-coordinator/internal/must"
)

// pipeWindow is a window behind net.Pipe, for tests with a fake clock.
type pipeWindow struct {
	server *Server

	// mu guards the fields that follow.
	mu       sync.Mutex
	down     bool
	gate     chan struct{} // blocks dials that have found whether there is a window; nil blocks none
	attempts []time.Time
	conns    []net.Conn
}

func (p *pipeWindow) connect(context.Context, Address) (net.Conn, error) {
	p.mu.Lock()
	p.attempts = append(p.attempts, time.Now())
	pressed, gate := p.down, p.gate
	p.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if pressed {
		return nil, errors.New("no window")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	mine, its := net.Pipe()
	p.conns = append(p.conns, mine)
	p.server.admit(its)
	return mine, nil
}

// set ends all connections, and forgets what was dialed.
func (p *pipeWindow) set(pressed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = pressed
	for _, c := range p.conns {
		c.Close()
	}
	p.conns, p.attempts = nil, nil
}

// dialed returns the times of the dials since the last set.
func (p *pipeWindow) dialed() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.attempts[:len(p.attempts):len(p.attempts)]
}

// watched runs a test in a bubble, with a watcher of a window.
func watched(t *testing.T, pressed bool, test func(t *testing.T, p *pipeWindow, w *Watcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t, ServerOptions{})
		p.down = pressed
		w := Watch("pipe", DialOptions{connect: p.connect})
		test(t, p, w)
		w.Close()
		p.server.owned.Wait()
	})
}

func newPipeWindow(t *testing.T, o ServerOptions) *pipeWindow {
	t.Helper()
	o.Server.Name, o.Server.Kind = "test", "terminal"
	s := must.Get(newServer(o))(t)
	return &pipeWindow{server: s}
}

func TestWatcherPauses(t *testing.T) {
	watched(t, true, func(t *testing.T, p *pipeWindow, w *Watcher) {
		lost := time.Now()
		check := func(attempts []time.Time) {
			t.Helper()
			for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
				want *= time.Second
				got := attempts[i+1].Sub(attempts[i])
				if got < want*8/10 || got > want*12/10 {
					t.Errorf("pause %d is %v, want %v and at most 20%% of jitter", i, got, want)
				}
			}
			if s, _ := w.Snapshot(); s.Connected || s.Err == nil {
				t.Errorf("the snapshot is %+v", s)
			}
		}
		time.Sleep(3 * time.Minute) // in the bubble's time
		synctest.Wait()
		if first := p.dialed()[0]; !first.Equal(lost) {
			t.Errorf("the first attempt is %v late", first.Sub(lost))
		}
		check(p.dialed())
		p.set(false)
		if _, err := w.connection(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.set(true) // after a success the pauses start from the beginning
		lost = time.Now()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		check(append([]time.Time{lost}, p.dialed()...))
	})
}

func TestWatcherDialsAtOnceWhenNeeded(t *testing.T) {
	watched(t, true, func(t *testing.T, p *pipeWindow, w *Watcher) {
		time.Sleep(time.Minute) // the next pause is 30 s
		synctest.Wait()
		start := time.Now()
		if c, err := w.connection(t.Context()); err == nil {
			t.Errorf("a window that is down gives %v", c)
		}
		p.set(false)
		c := must.Get(w.connection(t.Context()))(t)
		if err := ping(c, t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
		w.Close()
		if err := w.Call(t.Context(), "any", nil, nil); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestRetry: callers are notified when the attempt has ended, without a pause. A window
// that is connected is not dialed.
func TestRetry(t *testing.T) {
	watched(t, true, func(t *testing.T, p *pipeWindow, w *Watcher) {
		time.Sleep(time.Minute) // the next pause is 30 s
		synctest.Wait()
		start := time.Now()
		for _, step := range []struct{ down, dialed bool }{{true, true}, {false, true}, {false, false}} {
			if step.dialed {
				p.set(step.down)
			}
			ended, startTime := w.Retry()
			<-ended
			synctest.Wait()
			if s, _ := w.Snapshot(); s.Connected == step.down || !startTime.Equal(start) || !time.Now().Equal(start) ||
				len(p.dialed()) != 1 {
				t.Errorf("%+v: began at %v, ended at %v with %+v: %v", step, startTime, time.Now(), s, p.dialed())
			}
		}
	})
}

// TestRetryDuringAnAttempt: the attempt found no window, and a window has opened since.
// A caller of Retry then gets that window without a pause. One more attempt is enough
// for all callers, and a successful attempt is the last.
func TestRetryDuringAnAttempt(t *testing.T) {
	for _, late := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPipeWindow(t, ServerOptions{})
			p.down, p.gate = late, make(chan struct{})
			w := Watch("pipe", DialOptions{connect: p.connect})
			synctest.Wait() // it has searched
			start := time.Now()
			p.mu.Lock()
			p.down = false
			p.mu.Unlock()
			first, startTime := w.Retry()
			second, _ := w.Retry()
			if first != second || !startTime.Equal(start) {
				t.Errorf("each has an attempt of its own, or it began at %v", startTime)
			}
			close(p.gate)
			<-first
			if s, _ := w.Snapshot(); !s.Connected || !time.Now().Equal(start) {
				t.Errorf("after %v: %+v", time.Since(start), s)
			}
			time.Sleep(time.Hour)
			if n, want := len(p.dialed()), map[bool]int{true: 2, false: 1}[late]; n != want {
				t.Errorf("it was dialed %d times, want %d", n, want)
			}
			w.Close()
			p.server.owned.Wait()
		})
	}
}

// TestClosedWatcherDoesNotDial: an attempt that was requested ends.
func TestClosedWatcherDoesNotDial(t *testing.T) {
	watched(t, true, func(t *testing.T, p *pipeWindow, w *Watcher) {
		time.Sleep(10 * time.Second)
		requested, _ := w.Retry()
		w.Close()
		<-requested
		p.set(true)
		ended, _ := w.Retry()
		<-ended
		time.Sleep(10 * time.Minute)
		if dialed := p.dialed(); len(dialed) != 0 {
			t.Errorf("dialed at %v", dialed)
		}
	})
}

// TestWatcherReturns: a watcher that lost its window has the present state soon.
func TestWatcherReturns(t *testing.T) {
	watched(t, false, func(t *testing.T, p *pipeWindow, w *Watcher) {
		state := func(product string) State {
			return State{Browser: &Browser{URL: "ws://127.0.0.1:1/", Product: product, Via: "launched"}}
		}
		synctest.Wait()
		p.server.SetState(state("one"))
		synctest.Wait()
		s, changed := w.Snapshot()
		if !s.Connected || s.State.Browser == nil || s.State.Browser.Product != "one" {
			t.Fatalf("the snapshot is %+v", s)
		}
		p.set(true)
		<-changed
		p.server.SetState(state("two"))
		p.server.SetState(state("three"))
		p.set(false)
		start := time.Now()
		for s.State.Browser.Product != "three" || !s.Connected {
			<-changed
			s, changed = w.Snapshot()
		}
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("it was back after %v: the first pause is 1 s", took)
		}
	})
}

// TestDeadlines: a request that does not wait for the user has 5 s, on both sides. They
// begin with the request, also if the window does not read it.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t, ServerOptions{NoDeadline: []string{"user"}, Commands: map[string]Handler{
			"hang": func(ctx context.Context, _ Call) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			"user": func(context.Context, Call) (any, error) { time.Sleep(time.Hour); return "yes", nil },
			"deaf": func(context.Context, Call) (any, error) { time.Sleep(time.Hour); return "too late", nil },
		}})
		c := must.Get(dial(t.Context(), "pipe", DialOptions{connect: p.connect}))(t)
		var fault *Error
		for _, command := range []string{"hang", "deaf"} {
			start := time.Now()
			if err := c.call(t.Context(), command, nil, nil); !errors.As(err, &fault) ||
				fault.Code != codeDeadline || time.Since(start) != requestTime {
				t.Errorf("%s: %v after %v", command, err, time.Since(start))
			}
		}
		var answer string
		if err := c.call(t.Context(), "user", nil, &answer); err != nil || answer != "yes" {
			t.Errorf("a command that waits for a user: %q, %v", answer, err)
		}
		c.close()
		p.server.owned.Wait()

		for _, sends := range []string{"", helloAnswer} {
			mine, its := net.Pipe()
			go func() { // it no longer reads after the hello
				its.Read(make([]byte, 1<<10))
				io.WriteString(its, sends)
			}()
			start := time.Now()
			c, err := dial(t.Context(), "pipe", DialOptions{connect: func(context.Context, Address) (net.Conn,
				error) {
				return mine, nil
			}})
			if sends == "" {
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != requestTime {
					t.Errorf("a window that is silent: %v after %v", err, time.Since(start))
				}
				its.Close()
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			var work sync.WaitGroup
			for i := range 4 {
				work.Go(func() {
					time.Sleep(time.Duration(i) * time.Second)
					asked := time.Now()
					if err := ping(c, t.Context()); !errors.Is(err, context.DeadlineExceeded) ||
						time.Since(asked) != requestTime {
						t.Errorf("asked after %v, it had %v after %v", asked.Sub(start), err, time.Since(asked))
					}
				})
			}
			work.Wait()
			if err := c.endError(); err != nil {
				t.Errorf("the connection ended: %v", err)
			}
			c.close()
			its.Close()
		}
	})
}

// helloAnswer is the response of a window without a folder to the first request.
const helloAnswer = `{"id":1,"success":true,"payload":{"version":2,` +
	`"server":{"name":"x","version":"","kind":"vscode"},"session":"s","pid":1,"workspace":null,"folders":[],` +
	`"commands":[],"events":["state"],"seq":0,"state":{"revision":0,"debugSessions":[],"browser":null,"pages":[]}}}` + "\n"

// listenAnswer is its response to a second request, a subscription.
const listenAnswer = `{"id":2,"success":true,"payload":{"session":"s","seq":0,"state":{"revision":0,` +
	`"debugSessions":[],"browser":null,"pages":[]}}}` + "\n"

func ping(c *client, ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return c.request(ctx, "ping", nil, nil)
}
