// Package window makes a terminal a window: it launches a browser and serves it by the
// window protocol, as the VS Code extension serves an editor's browser.
package window

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/vscodeipc"
)

// closeTimeout bounds the orderly end of the server.
const closeTimeout = 2 * time.Second

// Options of a window.
type Options struct {
	Workspace string // canonical
	Find      launch.Find
	Browser   chrome.Options
	Access    vscodeipc.AccessMode
	Version   string
	Logger    *slog.Logger
}

// Window is a served window with its browser.
type Window struct {
	Browser *chrome.Browser
	Product string // name and version of the browser

	keepsProfile bool
	server       *vscodeipc.Server
}

// Launch launches the window's browser. Close ends it.
func Launch(ctx context.Context, o *Options) (*Window, error) {
	browser, err := launch.Browser(ctx, o.Find, o.Browser, "add --headless")
	if err != nil {
		return nil, err
	}
	w := &Window{Browser: browser, keepsProfile: o.Browser.KeepsProfile()}
	w.Product, err = launch.Product(ctx, browser.URL())
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Serve serves the window.
func (w *Window) Serve(ctx context.Context, o *Options) error {
	server, err := vscodeipc.Serve(ctx, vscodeipc.ServerOptions{
		Workspace: o.Workspace,
		Folders:   []string{o.Workspace},
		Kind:      "terminal",
		Name:      "coordinator",
		Version:   o.Version,
		Logger:    o.Logger,
	})
	if err != nil {
		return err
	}
	w.server = server
	return server.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: w.Browser.URL(), Product: w.Product, Via: "launched"},
		Access:  vscodeipc.Access{Mode: o.Access},
	})
}

// Close ends the server, and then the browser.
func (w *Window) Close() error {
	var err error
	if w.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		err = w.server.Close(ctx)
		cancel()
	}
	return errors.Join(err, launch.End(w.Browser, w.keepsProfile))
}
