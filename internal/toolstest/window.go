package toolstest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/notify"
	"browser-coordinator/vscodeipc"
)

// Window stands in for VS Code with the extension, which only the extension's end-to-end
// tests start. It answers the window's commands as its user would.
type Window struct {
	*vscodeipc.Server
	Folder string
	t      testing.TB
	url    string // of its browser; empty: it has none

	mu      sync.Mutex // guards the fields that follow
	called  notify.Broadcast
	calls   []vscodeipc.Call
	answers map[string]func(vscodeipc.Call) (any, error)
}

// OpenWindow serves a window with a shared browser, which allows everything.
func OpenWindow(t testing.TB) *Window {
	t.Helper()
	return OpenWindowAt(t, Folder(t, "shop"), Browser(t).URL())
}

// OpenWindowAt serves a window on a folder, with the browser at an address; empty: it has
// none. An older window is one without some commands.
func OpenWindowAt(t testing.TB, folder, browser string, without ...string) *Window {
	t.Helper()
	w := &Window{Folder: folder, t: t, url: browser, answers: map[string]func(vscodeipc.Call) (any, error){}}
	commands := map[string]vscodeipc.Handler{}
	for _, name := range []string{
		vscodeipc.CommandClientAnnounce, vscodeipc.CommandClientReport, vscodeipc.CommandPermissionAsk,
		vscodeipc.CommandPickStart, vscodeipc.CommandRecordShow, vscodeipc.CommandTabRequest,
		vscodeipc.CommandNoteTake, vscodeipc.CommandTestGive,
		vscodeipc.CommandReviewPresent, vscodeipc.CommandReviewWait, vscodeipc.CommandEditorReveal,
		vscodeipc.CommandDebugStart, vscodeipc.CommandDebugState,
		vscodeipc.CommandDebugBreakpoints, vscodeipc.CommandDebugStep, vscodeipc.CommandDebugEvaluate,
		vscodeipc.CommandDebugStop,
	} {
		commands[name] = w.handle
	}
	for _, name := range without {
		delete(commands, name)
	}
	var err error
	w.Server, err = vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Server: vscodeipc.ServerInfo{Name: "stand-in", Version: "1",
			Kind: "vscode"},
		Commands: commands,
		NoDeadline: []string{vscodeipc.CommandPermissionAsk, vscodeipc.CommandPickStart, vscodeipc.CommandRecordShow,
			vscodeipc.CommandTabRequest, vscodeipc.CommandDebugStart, vscodeipc.CommandReviewPresent,
			vscodeipc.CommandReviewWait},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	w.Allow(vscodeipc.AccessFull)
	return w
}

// Browser is the URL of the window's browser; empty: it has none.
func (w *Window) Browser() string { return w.url }

// Allow sets the window's access mode, and the clients that its user has stopped.
func (w *Window) Allow(mode vscodeipc.AccessMode, stopped ...string) {
	w.t.Helper()
	w.Show(w.url, mode, stopped...)
}

// Show sets the window's browser too; empty: it has none.
func (w *Window) Show(browser string, mode vscodeipc.AccessMode, stopped ...string) {
	w.t.Helper()
	w.url = browser
	state := vscodeipc.State{Access: vscodeipc.Access{Mode: mode, Stopped: stopped}}
	if browser != "" {
		state.Browser = &vscodeipc.Browser{URL: browser, Product: "Chromium", Via: "injected"}
	}
	if err := w.SetState(state); err != nil {
		w.t.Fatal(err)
	}
}

// Start connects an agent in the window's folder.
func (w *Window) Start(o agent.Options, caps ...string) *Agent {
	w.t.Helper()
	o.Dir = w.Folder
	return Start(w.t, o, caps...)
}

// Agent is Start for an agent with these sets of tools.
func (w *Window) Agent(caps ...string) *Agent {
	w.t.Helper()
	return w.Start(agent.Options{}, caps...)
}

// TakeOver has the window's user take over its browser, or give it back.
func (w *Window) TakeOver(taken bool) {
	w.t.Helper()
	state := vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: w.url, Product: "Chromium", Via: "injected"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull, TakenOver: taken},
	}
	if err := w.SetState(state); err != nil {
		w.t.Fatal(err)
	}
}

func (w *Window) handle(ctx context.Context, c vscodeipc.Call) (any, error) {
	w.mu.Lock()
	w.calls = append(w.calls, c)
	w.called.Notify()
	answer := w.answers[c.Command]
	w.mu.Unlock()
	if answer == nil {
		return struct{}{}, nil
	}
	type outcome struct {
		result any
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := answer(c)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Handle sets how the user answers a command.
func (w *Window) Handle(command string, answer func(vscodeipc.Call) (any, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[command] = answer
}

// Calls are the calls of a command so far.
func (w *Window) Calls(command string) (calls []vscodeipc.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.Command == command {
			calls = append(calls, c)
		}
	}
	return calls
}

// Called waits for a call of a command whose argument fits, and returns that argument.
// fits may be nil: any.
func Called[Arg any](w *Window, command string, fits func(Arg) bool) Arg {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		changed := w.called.Next()
		w.mu.Unlock()
		for _, c := range w.Calls(command) {
			var arg Arg
			if json.Unmarshal(c.Arg, &arg) == nil && (fits == nil || fits(arg)) {
				return arg
			}
		}
		select {
		case <-changed:
		case <-limit:
			w.t.Fatalf("nobody called %s so", command)
		}
	}
}

// Await waits until window_list shows a text for the selected window: the coordinator
// receives a window's new state asynchronously.
func (a *Agent) Await(shows string) {
	a.t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; {
		list := a.Must("window_list", nil)
		for line := range strings.Lines(list) {
			if strings.HasPrefix(line, "* ") && strings.Contains(line, shows) {
				return
			}
		}
		if time.Now().After(limit) {
			a.t.Fatalf("no selected window with %q in %s", shows, list)
		}
	}
}
