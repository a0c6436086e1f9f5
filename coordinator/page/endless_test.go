package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// connectFor connects with a deadline for calls. A fifth of it is left when a script is
// stopped.
func connectFor(t *testing.T, limit time.Duration) *page.Browser {
	t.Helper()
	return pagetest.ConnectWith(t, &page.Options{CallTimeout: limit})
}

// An endless script is stopped wherever it runs, and the page stays usable. Waiting does
// not count as computing. The scripts run one after the other: each keeps a processor busy.
func TestEndlessScripts(t *testing.T) {
	t.Parallel()
	scripts := []struct{ script, target string }{
		{"(e) => { for (;;); }", "body"},
		{"(e) => new Promise((r) => setTimeout(r)).then(() => { for (;;); })", "body"},
		{"({ get endless() { for (;;); } })", ""},
		{"async () => { await new Promise((r) => setTimeout(r, 50)); for (;;); }", ""},
		{"await 0; for (;;);", ""},
		{"() => new Promise(() => { setTimeout(() => { for (;;); }) })", ""},
	}
	for _, test := range longtest.Form(t, scripts[:1], scripts) {
		t.Run(test.script, func(t *testing.T) {
			p := pagetest.NewPage(t, connectFor(t, 6*time.Second))
			_, _, err := p.Evaluate(t.Context(), test.script, test.target, page.Bounds{})
			expectStopped(t, p, err)
		})
	}
	if testing.Short() {
		return // each keeps a processor busy for five seconds
	}
	t.Run("a target that was found late", func(t *testing.T) {
		p := pagetest.NewPage(t, connectFor(t, 6*time.Second))
		pagetest.Evaluate(t, p, "void setTimeout(() => { const end = Date.now() + 2000; while (Date.now() < end); })")
		_, _, err := p.Evaluate(t.Context(), "(e) => { for (;;); }", "body", page.Bounds{})
		expectStopped(t, p, err)
	})
	t.Run("an expression to wait for", func(t *testing.T) {
		p := pagetest.NewPage(t, connectFor(t, 6*time.Second))
		_, err := p.WaitFor(t.Context(),
			page.WaitOptions{Expression: "async () => { await new Promise((r) => setTimeout(r)); for (;;); }"})
		expectStopped(t, p, err)
	})
	t.Run("a promise", func(t *testing.T) {
		t.Parallel()
		p := pagetest.NewPage(t, connectFor(t, 6*time.Second))
		pagetest.Expect(t, p, "new Promise((r) => setTimeout(r, 5000, 3))", "3")
		var timeout *page.TimeoutError
		if _, _, err := p.Evaluate(t.Context(), "new Promise(() => {})", "", page.Bounds{}); !errors.As(err, &timeout) ||
			!strings.Contains(err.Error(), "running the script") {
			t.Errorf("a promise that is never kept: %v", err)
		}
	})
}

func expectStopped(t *testing.T, p *page.Page, err error) {
	t.Helper()
	var timeout *page.TimeoutError
	if !errors.As(err, &timeout) || !strings.Contains(err.Error(), "was stopped; the page lives on") {
		t.Errorf("the script's error: %v", err)
	}
	pagetest.Expect(t, p, "2", "2")
}

// A script whose caller no longer waits is stopped too, if it keeps the page busy.
func TestEndlessScriptThatIsCancelled(t *testing.T) {
	t.Parallel()
	p := pagetest.NewPage(t, connectFor(t, 10*time.Second))
	for _, script := range []string{
		"() => { for (;;); }",
		"async () => { await new Promise((r) => setTimeout(r)); for (;;); }",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, _, err := p.Evaluate(ctx, script, "", page.Bounds{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*page.TimeoutError)) {
			t.Errorf("%s: %v", script, err)
		}
		pagetest.Expect(t, p, "2", "2")
	}
}

// A script that comes to no end after a dialog has ended its call is stopped too.
func TestEndlessScriptBehindADialog(t *testing.T) {
	t.Parallel()
	p := pagetest.NewPage(t, connectFor(t, 3*time.Second))
	for _, target := range []string{"", "body"} {
		_, c, err := p.Evaluate(t.Context(), "() => { alert('?'); for (;;); }", target, page.Bounds{})
		if err != nil || c.Dialog == nil {
			t.Fatalf("%+v %v", c, err)
		}
		if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
			t.Log(err) // it may report that the page is busy
		}
		must.Await(t, "the page responds", func() bool {
			_, _, err := p.Evaluate(t.Context(), "2", "", page.Bounds{})
			return err == nil
		})
	}
}

// A script that kept the page busy before the agent's script was sent must not be stopped.
// The same holds for a script that a dialog or a debugger blocks.
func TestScriptsOfOthersAreNotStopped(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	p := pagetest.NewPage(t, pagetest.Connect(t))
	short, err := connectFor(t, limit).Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, "(setTimeout(() => { const end = Date.now() + 4500; "+
		"while (Date.now() < end); ended = true }), 1)")
	var hung *page.HungError
	if _, _, err := short.Evaluate(t.Context(), "() => 1", "", page.Bounds{}); !errors.As(err, &hung) {
		t.Errorf("while the page is busy: %v", err)
	}
	pagetest.Expect(t, p, "ended", "true")

	if _, c, err := short.Evaluate(t.Context(), "async () => { "+
		"await 0; alert('?'); answered = true }", "", page.Bounds{}); err != nil ||
		c.Dialog == nil {
		t.Fatalf("%+v %v", c, err)
	}
	time.Sleep(limit * 5 / 4) // nothing may happen
	if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Error(err)
	}
	pagetest.Expect(t, p, "answered", "true")

	longtest.Require(t) // from here on

	// What the page itself does after its dialog is not the agent's script.
	pagetest.Evaluate(t, p, `void setTimeout(() => {
		const busy = (ms) => { for (const end = Date.now() + ms; Date.now() < end;); }
		busy(500), alert("the page's own"), busy(4500), own = true
	})`)
	if _, c, err := short.Evaluate(t.Context(), "() => 1", "", page.Bounds{}); err == nil && c.Dialog == nil {
		t.Errorf("a script that waits behind a dialog has ended: %+v", c)
	}
	must.Await(t, "the other connection sees the dialog", func() bool { return p.Dialog() != nil })
	if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Error(err)
	}
	pagetest.Expect(t, p, "own", "true")

	debugger := pagetest.Attach(t, p)
	s := debugger.Session()
	if err := s.Call(t.Context(), "Debugger.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	paused := s.Listen("Debugger.paused")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-paused.C(); cancel() }()
	if _, _, err := short.Evaluate(ctx, "() => { "+
		"debugger; for (let i = 0; i < 1e6; i++); resumed = true }", "", page.Bounds{}); err == nil {
		t.Error("a call that was cancelled while the page was paused has ended well")
	}
	time.Sleep(limit * 5 / 4) // nothing may happen
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Error(err)
	}
	pagetest.Expect(t, p, "resumed", "true")
}

// A connection that closes leaves no script behind that keeps the page busy.
func TestEndlessScriptAtTheEndOfItsConnection(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<p id=p>p")
	b := pagetest.Connect(t)
	q, err := b.Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := q.Evaluate(ctx, "async () => { await new Promise((r) => setTimeout(r)); "+
			"console.log('it loops'); for (;;); }", "", page.Bounds{})
		ended <- err
	}()
	must.Await(t, "the script begins", func() bool { return len(p.History().Console.Messages("debug")) > 0 })
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was cancelled has ended well")
	}
	b.Close()
	pagetest.Expect(t, p, "2", "2") // fails in a page that hangs

	// Closing does not wait for a page that another connection keeps busy.
	b = pagetest.Connect(t)
	if q, err = b.Page(t.Context(), p.ID()); err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, "void setTimeout(() => { const end = Date.now() + 5000; "+
		"while (Date.now() < end); ended = true })")
	free := make(chan struct{})
	go func() { _, _, _ = p.Evaluate(t.Context(), "ended", "", page.Bounds{}); close(free) }()
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, _, err := q.Evaluate(ctx, "() => 1", "", page.Bounds{})
		ended <- err
	}()
	time.AfterFunc(100*time.Millisecond, cancel)
	<-ended
	b.Close()
	select {
	case <-free:
		t.Error("the connection was closed only when the page was free")
	default:
	}
	<-free
	pagetest.Expect(t, p, "ended", "true")
}

// A script of ours whose work grows with the page ends in the page too when the call's time is over, and the error
// does not blame a script of the page.
func TestOwnScriptThatTakesTooLong(t *testing.T) {
	t.Parallel()
	p := pagetest.NewPage(t, pagetest.Connect(t))
	user := pagetest.Attach(t, p)
	const looks = "function () { for (;;); }"
	for name, look := range map[string]func(context.Context) error{
		"function": func(ctx context.Context) error { return p.Frames().Run(ctx, p.Frames().Main(), looks, nil, nil) },
		"expression": func(ctx context.Context) error {
			return p.Frames().Evaluate(ctx, "("+looks+")()", nil)
		},
	} {
		err := p.Run(t.Context(), "looking", 4*time.Second, look)
		if err == nil || !strings.Contains(err.Error(), "the page is too large for it, so it was stopped") {
			t.Errorf("%s: %v", name, err)
		}
		pagetest.Evaluate(t, user, "1") // it fails if the page is busy
	}
}
