package vscodeipc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipeWindow is a window behind net.Pipe, for tests with a fake clock.
type pipeWindow struct {
	server *Server

	// mu guards the fields that follow.
	mu       sync.Mutex
	down     bool
	gate     chan struct{} // blocks dials that have found whether there is a window; nil blocks none
	attempts []time.Time
	sent     bytes.Buffer // what clients sent
	conns    []net.Conn
}

func newPipeWindow(t *testing.T) *pipeWindow {
	t.Helper()
	s, err := newServer(ServerOptions{Name: "test", Kind: "terminal"})
	if err != nil {
		t.Fatal(err)
	}
	return &pipeWindow{server: s}
}

func (p *pipeWindow) connect(context.Context, Address) (net.Conn, error) {
	p.mu.Lock()
	p.attempts = append(p.attempts, time.Now())
	down, gate := p.down, p.gate
	p.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if down {
		return nil, errors.New("nobody there")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	mine, its := net.Pipe()
	p.conns = append(p.conns, mine)
	p.server.admit(its)
	return &tee{Conn: mine, window: p}, nil
}

func (p *pipeWindow) set(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for _, c := range p.conns {
		c.Close()
	}
	p.conns, p.attempts = nil, nil
	p.sent.Reset()
}

// tee records what a client sends.
type tee struct {
	net.Conn
	window *pipeWindow
}

func (c *tee) Write(b []byte) (int, error) {
	c.window.mu.Lock()
	c.window.sent.Write(b)
	c.window.mu.Unlock()
	return c.Conn.Write(b)
}

// dialed returns the times of the dials since the last set.
func (p *pipeWindow) dialed() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.attempts)
}

func watchPipe(p *pipeWindow) *Watcher {
	return Watch("pipe", &WatchOptions{Dial: DialOptions{connect: p.connect}})
}

func TestWatcherPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		p.set(true)
		start := time.Now()
		w := watchPipe(p)
		defer w.Close()
		time.Sleep(3 * time.Minute) // in the bubble's time
		synctest.Wait()
		attempts := p.dialed()
		if len(attempts) < 8 || !attempts[0].Equal(start) {
			t.Fatalf("attempts: %v", attempts)
		}
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
	})
}

func TestWatcherDialsAtOnceWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		p.set(true)
		w := watchPipe(p)
		defer w.Close()
		time.Sleep(time.Minute) // the next pause is 30 s
		synctest.Wait()
		start := time.Now()
		if c, err := w.Client(t.Context()); err == nil {
			t.Errorf("a window that is down gives %v", c)
		}
		p.set(false)
		c, err := w.Client(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
		w.Close()
		if _, err := w.Client(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		p.server.owned.Wait()
	})
}

// TestRetry: several callers share one attempt, also one that is in progress, and are
// notified when it has ended.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		p.set(true)
		w := watchPipe(p)
		defer w.Close()
		time.Sleep(time.Minute) // the next pause is 30 s
		synctest.Wait()
		p.set(true)
		start := time.Now()
		ended, began := w.Retry()
		<-ended
		if !began.Equal(start) || !time.Now().Equal(start) || len(p.dialed()) != 1 {
			t.Errorf("the attempt began at %v of %v: %v", began, start, p.dialed())
		}
		if s, _ := w.Snapshot(); s.Connected || s.Err == nil {
			t.Errorf("the snapshot is %+v", s)
		}
		p.set(false)
		ended, _ = w.Retry()
		<-ended
		if s, _ := w.Snapshot(); !s.Connected || !time.Now().Equal(start) {
			t.Errorf("after %v: %+v", time.Since(start), s)
		}
		ended, _ = w.Retry()
		<-ended
		synctest.Wait()
		if n := len(p.dialed()); n != 1 {
			t.Errorf("a window that is connected was dialed: %d times", n)
		}
		w.Close()
		p.server.owned.Wait()
	})
}

// TestRetryDuringAnAttempt: the attempt found no window, and a window has opened since.
// A caller of Retry then gets that window without a pause. One more attempt is enough
// for all callers, and a successful attempt is the last.
func TestRetryDuringAnAttempt(t *testing.T) {
	for _, late := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPipeWindow(t)
			p.set(late)
			p.gate = make(chan struct{})
			w := watchPipe(p)
			defer w.Close()
			synctest.Wait() // it has searched
			start := time.Now()
			p.mu.Lock()
			p.down = false
			p.mu.Unlock()
			first, began := w.Retry()
			second, _ := w.Retry()
			if first != second || !began.Equal(start) {
				t.Errorf("each has an attempt of its own, or it began at %v", began)
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

// TestClosedWatcherDialsNobody: a closed watcher does not dial.
func TestClosedWatcherDialsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		p.set(true)
		w := watchPipe(p)
		time.Sleep(10 * time.Second)
		w.Close()
		p.set(true)
		ended, _ := w.Retry()
		<-ended
		time.Sleep(10 * time.Minute)
		if dialed := p.dialed(); len(dialed) != 0 {
			t.Errorf("dialed at %v", dialed)
		}
	})
}

func TestWatcherResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		w := watchPipe(p)
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
		p.mu.Lock()
		sent := p.sent.String()
		p.mu.Unlock()
		if want := `"resume":{"session":"` + p.server.Session() + `","seq":1}`; !bytes.Contains([]byte(sent), []byte(want)) {
			t.Errorf("it sent %s", sent)
		}
		w.Close()
		p.server.owned.Wait()
	})
}

// TestWatcherForgetsPausesOnSuccess: after a success the pauses start from the
// beginning.
func TestWatcherForgetsPausesOnSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeWindow(t)
		p.set(true)
		w := watchPipe(p)
		time.Sleep(2 * time.Minute) // the pauses have grown to 30 s
		p.set(false)
		if _, err := w.Client(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.set(true)
		start := time.Now()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		attempts := p.dialed()
		if len(attempts) < 2 || attempts[0].Sub(start) > 1200*time.Millisecond {
			t.Errorf("lost at %v, dialed again at %v", start, attempts)
		}
		w.Close()
		p.server.owned.Wait()
	})
}

// TestDeadlines: a request that does not wait for the user has 5 s, on both sides.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newServer(ServerOptions{Name: "test", Kind: "terminal", NoDeadline: []string{"human"}, Commands: map[string]Handler{
			"hang":  func(ctx context.Context, _ Call) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			"human": func(ctx context.Context, _ Call) (any, error) { time.Sleep(time.Hour); return "yes", nil },
			"deaf":  func(context.Context, Call) (any, error) { time.Sleep(time.Hour); return "too late", nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		p := &pipeWindow{server: s}
		c, err := Dial(t.Context(), "pipe", &DialOptions{connect: p.connect})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var fault *Error
		if err := c.Call(t.Context(), "hang", nil, nil); !errors.As(err, &fault) || fault.Code != CodeDeadline || time.Since(start) != requestTime {
			t.Errorf("a command that hangs: %v after %v", err, time.Since(start))
		}
		start = time.Now()
		if err := c.Call(t.Context(), "deaf", nil, nil); !errors.As(err, &fault) || fault.Code != CodeDeadline || time.Since(start) != requestTime {
			t.Errorf("a command that does not look at its deadline: %v after %v", err, time.Since(start))
		}
		var answer string
		if err := c.Call(t.Context(), "human", nil, &answer); err != nil || answer != "yes" {
			t.Errorf("a command that waits for a user: %q, %v", answer, err)
		}
		c.Close()
		s.owned.Wait()

		// A window that accepts the connection and sends nothing.
		mine, its := net.Pipe()
		go io.Copy(io.Discard, its)
		start = time.Now()
		_, err = Dial(t.Context(), "pipe", &DialOptions{connect: func(context.Context, Address) (net.Conn, error) { return mine, nil }})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != requestTime {
			t.Errorf("a window that is silent: %v after %v", err, time.Since(start))
		}
		its.Close()
	})
}

// TestDeadlineToWrite: the 5 s of a request begin with the request, not with its turn to
// write.
func TestDeadlineToWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, its := net.Pipe()
		defer its.Close()
		go func() { // it responds to the hello and then no longer reads
			its.Read(make([]byte, 1<<10))
			its.Write(encodeAnswer(intID(1), Hello{
				Version: 1, Session: "s", PID: 1, Server: ServerInfo{Name: "x", Kind: "vscode"},
				Folders: []string{}, Commands: []string{}, Events: []string{}, State: State{}.normal(),
			}, nil))
		}()
		c, err := Dial(t.Context(), "pipe", &DialOptions{connect: func(context.Context, Address) (net.Conn, error) { return mine, nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		var work sync.WaitGroup
		for i := range 4 {
			work.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				asked := time.Now()
				if err := c.Ping(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) != requestTime {
					t.Errorf("asked after %v, it had %v after %v", asked.Sub(start), err, time.Since(asked))
				}
			})
		}
		work.Wait()
		if err := c.Err(); err != nil {
			t.Errorf("the connection ended: %v", err)
		}
	})
}
