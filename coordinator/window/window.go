// Package window makes a terminal a window: it launches a browser and serves it by the
// window protocol, as the VS Code extension serves an editor's browser.
package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/backoff"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// closeTimeout bounds the orderly end of the server.
const closeTimeout = 2 * time.Second

// Options of a window.
type Options struct {
	Workspace string // canonical
	Browser   *launch.OnDemand
	Access    vscodeipc.AccessMode
	Terminal  *Terminal // where the user is asked too; nil: only by `coordinator show`
	Version   string
	Logger    *slog.Logger
}

// Window is a served window with its browser.
type Window struct {
	Product string // name and version of the browser

	browser   *launch.OnDemand
	log       *slog.Logger
	url       string // of the browser
	questions *questions
	clients   *clients
	notes     *notes
	needed    chan chan<- error // requests to open the user's own browser again

	mu     sync.Mutex        // guards the fields that follow
	server *vscodeipc.Server // nil: not yet
	state  vscodeipc.State   // as it is reported
}

// Launch launches the window's browser. Close ends it.
func Launch(ctx context.Context, o *Options) (*Window, error) {
	asked := newQuestions(o.Terminal, vscodeipc.Access{Mode: o.Access})
	w := &Window{browser: o.Browser, log: o.Logger, notes: newNotes(), questions: asked,
		needed: make(chan chan<- error)}
	w.clients = newClients(func(here map[string]bool) {
		asked.keepOnly(here)
		w.forgetNotes(here)
	})
	if o.Browser.Kind() == launch.Personal {
		w.questions.tabs = ownTabs{o.Browser.URL}
	}
	w.state.Access.Mode = o.Access
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// open opens the browser.
func (w *Window) open(ctx context.Context) error {
	url, err := w.browser.Browser(ctx)
	if err != nil {
		return err
	}
	w.url = url
	w.Product, err = ProductOf(ctx, url)
	return err
}

// ProductOf is the name and version of a browser, such as Chrome/156.0.8078.79.
func ProductOf(ctx context.Context, url string) (string, error) {
	conn, err := cdp.Dial(ctx, url, nil)
	if err != nil {
		return "", fmt.Errorf("cannot read the browser's version: %w", err)
	}
	defer conn.Close()
	var version struct {
		Product string `json:"product"`
	}
	if err := conn.Call(ctx, "Browser.getVersion", nil, &version); err != nil {
		return "", fmt.Errorf("cannot read the browser's version: %w", err)
	}
	return version.Product, nil
}

// handler is a command of the window that has an argument.
func handler[A any](do func(context.Context, A) (any, error)) vscodeipc.Handler {
	return func(ctx context.Context, call vscodeipc.Call) (any, error) {
		var arg A
		if err := json.Unmarshal(call.Arg, &arg); err != nil {
			return nil, badPayload(err)
		}
		return do(ctx, arg)
	}
}

func badPayload(err error) error {
	return &vscodeipc.Error{Code: vscodeipc.CodeBadPayload, Message: err.Error()}
}

// Serve serves the window.
func (w *Window) Serve(ctx context.Context, o *Options) error {
	commands := w.clients.commands()
	maps.Copy(commands, w.questions.commands())
	commands[vscodeipc.CommandAccessChange] = handler(w.changeAccess)
	commands[vscodeipc.CommandNoteGive] = handler(w.giveNote)
	commands[vscodeipc.CommandNoteTake] = handler(w.takeNote)
	info := vscodeipc.ServerInfo{Name: "coordinator", Version: o.Version, Kind: "terminal"}
	if w.browser.Kind() == launch.Personal {
		commands[vscodeipc.CommandDebugStart] = w.start
		info.Start = "connect to it again with debug_start, for which " + w.browser.Provider() + " asks its user"
	}
	server, err := vscodeipc.Serve(ctx, vscodeipc.ServerOptions{
		Workspace: o.Workspace,
		Folders:   []string{o.Workspace},
		Server:    info,
		Commands:  commands,
		NoDeadline: []string{vscodeipc.CommandPermissionAsk, vscodeipc.CommandRecordShow, vscodeipc.CommandTabRequest,
			vscodeipc.CommandDebugStart},
		Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.server = server
	w.mu.Unlock()
	return w.show()
}

// show reports the browser to the window's clients.
func (w *Window) show() error {
	return w.report(func(state *vscodeipc.State) {
		state.Browser = &vscodeipc.Browser{URL: w.url, Product: w.Product, Via: string(w.browser.Kind())}
	})
}

// report changes the state that the window's clients have. A client may come before the server is
// stored: show, which follows, reports that change too.
func (w *Window) report(change func(*vscodeipc.State)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	if w.server == nil {
		return nil
	}
	return w.server.SetState(w.state)
}

// changeAccess does what the user wants in `coordinator show`.
func (w *Window) changeAccess(_ context.Context, change vscodeipc.AccessChangeArg) (any, error) {
	if err := checkChange(change); err != nil {
		return nil, err
	}
	err := w.report(func(state *vscodeipc.State) {
		state.Access = changed(state.Access, change)
		w.questions.apply(state.Access)
	})
	return struct{}{}, err
}

func checkChange(change vscodeipc.AccessChangeArg) error {
	if change.Mode != "" && !slices.Contains(policy.Modes, policy.Mode(change.Mode)) {
		return badPayload(fmt.Errorf("no mode %q", change.Mode))
	}
	return nil
}

// changed is what the user allows after a change.
func changed(access vscodeipc.Access, change vscodeipc.AccessChangeArg) vscodeipc.Access {
	if change.Mode != "" {
		access.Mode = change.Mode
	}
	access.Stopped = slices.DeleteFunc(slices.Clone(access.Stopped), func(name string) bool {
		return name == change.Stop || name == change.Resume
	})
	if change.Stop != "" {
		access.Stopped = append(access.Stopped, change.Stop)
	}
	if change.TakenOver != nil {
		access.TakenOver = *change.TakenOver
	}
	return access
}

// Run returns when ctx ends, or when the browser has ended. The error is how a browser on
// this machine ended by itself; nil: it was closed. A provider is asked for the next one
// instead.
func (w *Window) Run(ctx context.Context) error {
	pause := backoff.Backoff{First: time.Second, Max: 30 * time.Second, Jitter: 0.2}
	for {
		start := time.Now()
		select {
		case <-ctx.Done():
			return nil
		case <-w.browser.Done():
		}
		err := w.browser.Err()
		if w.browser.Kind() == launch.Launched {
			return err
		}
		w.log.Warn("the browser has ended", "reason", err)
		if err := w.report(func(state *vscodeipc.State) { state.Browser = nil }); err != nil {
			return err
		}
		switch {
		case w.browser.Kind() == launch.Personal:
			if !w.awaitNeed(ctx) {
				return nil
			}
		case time.Since(start) > pause.Max:
			pause.Reset()
		case !pause.Sleep(ctx): // a provider may end each browser at once
			return nil
		}
		if w.browser.Kind() == launch.Provided && !w.reopen(ctx, &pause) {
			return nil
		}
		if err := w.show(); err != nil {
			return err
		}
		w.log.Warn("the next browser is ready", "product", w.Product)
	}
}

// awaitNeed opens the user's own browser again when somebody needs it: it asks its user. It reports
// false if ctx ends first.
func (w *Window) awaitNeed(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case answer := <-w.needed:
			err := w.open(ctx)
			if err == nil {
				err = w.show()
			}
			answer <- err
			if err == nil {
				return true
			}
			w.log.Warn("the browser could not be opened; the window goes on", "error", err)
		}
	}
}

// start has the user's own browser opened again, if it has ended.
func (w *Window) start(ctx context.Context, _ vscodeipc.Call) (any, error) {
	w.mu.Lock()
	runs := w.state.Browser != nil
	w.mu.Unlock()
	answer := make(chan error, 1)
	if !runs {
		select {
		case w.needed <- answer:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case err := <-answer:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return vscodeipc.DebugStartResult{Name: w.browser.Provider(), Session: string(launch.Personal)}, nil
}

// reopen opens the next browser. It reports false if ctx ends first.
func (w *Window) reopen(ctx context.Context, pause *backoff.Backoff) bool {
	for {
		err := w.open(ctx)
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		}
		w.log.Warn("no browser could be opened yet; the window keeps trying", "error", err)
		if !pause.Sleep(ctx) {
			return false
		}
	}
}

// Close ends the server, and then the browser.
func (w *Window) Close() error {
	w.mu.Lock()
	server := w.server
	w.mu.Unlock()
	var err error
	if server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		err = server.Close(ctx)
		cancel()
	}
	return errors.Join(err, w.browser.End())
}
