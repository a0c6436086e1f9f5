package page

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// An endless script is stopped wherever it runs, and the page stays usable.
func TestEndlessScripts(t *testing.T) {
	p, _ := open(t, "<p id=p>p")
	p.browser.opts.CallTimeout = 6 * time.Second // a fifth of it is left when a script is stopped
	for _, test := range []struct{ script, target string }{
		{"(e) => { for (;;); }", "#p"},
		{"(e) => new Promise((r) => setTimeout(r)).then(() => { for (;;); })", "#p"},
		{"({ get endless() { for (;;); } })", ""},
		{"async () => { await new Promise((r) => setTimeout(r, 50)); for (;;); }", ""},
		{"await 0; for (;;);", ""},
		{"() => new Promise(() => { setTimeout(() => { for (;;); }) })", ""},
	} {
		var late *TimeoutError
		_, _, err := p.Evaluate(t.Context(), test.script, test.target)
		if !errors.As(err, &late) || !strings.Contains(err.Error(), "was stopped; the page lives on") {
			t.Errorf("%s: %v", test.script, err)
		}
		if got := eval(t, p, "2"); got != "2" {
			t.Errorf("after %s the page says %s", test.script, got)
		}
	}
	var late *TimeoutError
	if _, err := p.WaitFor(t.Context(), WaitOptions{Expression: "async () => { await new Promise((r) => setTimeout(r)); for (;;); }"}); !errors.As(err, &late) || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("an expression to wait for: %v", err)
	}
	if got := eval(t, p, "2"); got != "2" {
		t.Errorf("after it the page says %s", got)
	}
	// Waiting does not count as computing.
	if got := eval(t, p, "new Promise((r) => setTimeout(r, 5400, 3))"); got != "3" {
		t.Errorf("a patient script: %s", got)
	}
}

// A script whose caller no longer waits is stopped too, if it keeps the page busy.
func TestEndlessScriptThatIsCancelled(t *testing.T) {
	p, _ := open(t, "<p id=p>p")
	p.browser.opts.CallTimeout = 3 * time.Second
	for _, script := range []string{
		"() => { for (;;); }",
		"async () => { await new Promise((r) => setTimeout(r)); for (;;); }",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		start := time.Now()
		_, _, err := p.Evaluate(ctx, script, "")
		cancel()
		if took := time.Since(start); err == nil || took > time.Second {
			t.Errorf("%s: %v after %v", script, err, took)
		}
		if got := eval(t, p, "2"); got != "2" || time.Since(start) > 2500*time.Millisecond {
			t.Errorf("after %s the page says %s, after %v", script, got, time.Since(start))
		}
	}
}

// A script that kept the page busy before the agent's script was sent must not be stopped.
// The same holds for a script that a dialog or a debugger blocks.
func TestScriptsOfOthersAreNotStopped(t *testing.T) {
	p, _ := open(t, "<p id=p>p")
	p.browser.opts.CallTimeout = 2 * time.Second
	eval(t, p, "(setTimeout(() => { const end = Date.now() + 4500; while (Date.now() < end); ended = true }), 1)")
	var hung *HungError
	if _, _, err := p.Evaluate(t.Context(), "() => 1", ""); !errors.As(err, &hung) {
		t.Errorf("while the page is busy: %v", err)
	}
	p.browser.opts.CallTimeout = 10 * time.Second
	if got := eval(t, p, "ended"); got != "true" {
		t.Errorf("the page's own script has ended: %s", got)
	}

	p.browser.opts.CallTimeout = 2 * time.Second
	if _, c, err := p.Evaluate(t.Context(), "async () => { await 0; alert('?'); answered = true }", ""); err != nil || c.Dialog == nil {
		t.Fatalf("%+v %v", c, err)
	}
	time.Sleep(2 * p.busyPatience()) // nothing may happen
	if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "answered"); got != "true" {
		t.Errorf("behind the dialog: %s", got)
	}

	s, err := connect(t).conn.Attach(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Call(t.Context(), "Debugger.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	paused := s.Listen("Debugger.paused")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-paused.C(); cancel() }()
	if _, _, err := p.Evaluate(ctx, "() => { debugger; for (let i = 0; i < 1e6; i++); resumed = true }", ""); err == nil {
		t.Error("a call that was cancelled while the page was paused has ended well")
	}
	time.Sleep(2 * p.busyPatience()) // nothing may happen
	if err := s.Call(t.Context(), "Debugger.resume", nil, nil); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "resumed"); got != "true" {
		t.Errorf("behind the pause: %s", got)
	}
}

// A connection that closes leaves no script behind that keeps the page busy.
func TestEndlessScriptOfWhoLeaves(t *testing.T) {
	p, _ := open(t, "<p id=p>p")
	b := connect(t)
	q, err := b.Page(t.Context(), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := q.Evaluate(ctx, "async () => { await new Promise((r) => setTimeout(r)); console.log('it loops'); for (;;); }", "")
		ended <- err
	}()
	if err := p.await(t.Context(), func() bool { return len(p.Console().After(-1, "debug")) > 0 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was cancelled has ended well")
	}
	start := time.Now()
	b.Close()
	if got := eval(t, p, "2"); got != "2" || time.Since(start) > time.Second {
		t.Errorf("the page says %s, after %v", got, time.Since(start))
	}

	// Closing does not wait for a page that another connection keeps busy.
	b = connect(t)
	if q, err = b.Page(t.Context(), p.ID()); err != nil {
		t.Fatal(err)
	}
	eval(t, p, "void setTimeout(() => { const end = Date.now() + 2500; while (Date.now() < end); ended = true })")
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, _, err := q.Evaluate(ctx, "() => 1", "")
		ended <- err
	}()
	time.AfterFunc(100*time.Millisecond, cancel)
	<-ended
	start = time.Now()
	b.Close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("leaving took %v", took)
	}
	if got := eval(t, p, "ended"); got != "true" {
		t.Errorf("the page's own script has ended: %s", got)
	}
}
