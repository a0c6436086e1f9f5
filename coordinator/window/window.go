// Package window makes a terminal a window: it launches a browser and serves it by the
// window protocol, as the VS Code extension serves an editor's browser.
package window

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/vscodeipc"
)

// closeTimeout bounds the orderly end of the server.
const closeTimeout = 2 * time.Second

// Options of a window.
type Options struct {
	Workspace string // canonical
	Browser   *launch.OnDemand
	Access    vscodeipc.AccessMode
	Version   string
	Logger    *slog.Logger
}

// Window is a served window with its browser.
type Window struct {
	Browser *launch.OnDemand
	Product string // name and version of the browser

	url    string // of the browser
	server *vscodeipc.Server
}

// Launch launches the window's browser. Close ends it.
func Launch(ctx context.Context, o *Options) (*Window, error) {
	url, err := o.Browser.Browser(ctx)
	if err != nil {
		return nil, err
	}
	w := &Window{Browser: o.Browser, url: url}
	w.Product, err = product(ctx, url)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// product is the name and version of a browser, such as Chrome/156.0.8078.79.
func product(ctx context.Context, url string) (string, error) {
	conn, err := cdp.Dial(ctx, url, nil)
	if err != nil {
		return "", fmt.Errorf("ask the browser for its version: %w", err)
	}
	defer conn.Close()
	var version struct {
		Product string `json:"product"`
	}
	if err := conn.Call(ctx, "Browser.getVersion", nil, &version); err != nil {
		return "", fmt.Errorf("ask the browser for its version: %w", err)
	}
	return version.Product, nil
}

// Serve serves the window.
func (w *Window) Serve(ctx context.Context, o *Options) error {
	server, err := vscodeipc.Serve(ctx, vscodeipc.ServerOptions{
		Workspace: o.Workspace,
		Folders:   []string{o.Workspace},
		Kind:      "terminal",
		Name:      "coordinator",
		Version:   o.Version,
		Commands:  newClients().commands(),
		Logger:    o.Logger,
	})
	if err != nil {
		return err
	}
	w.server = server
	return server.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: w.url, Product: w.Product, Via: "launched"},
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
	return errors.Join(err, w.Browser.End())
}
