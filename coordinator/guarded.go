package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

// guardFlags are what the commands that serve an endpoint let a person choose.
type guardFlags struct {
	requireToken, allowClose bool
	hold                     hold
	allowOrigins             origins
}

func (f *guardFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.requireToken, "require-token", false, "let CDP clients in by the secret token only, also those of the same user")
	cmd.Flags().BoolVar(&f.allowClose, "allow-close", false, "let CDP clients close the browser (Browser.close) for everyone")
	f.hold = hold(cdpproxy.DefaultHold)
	cmd.Flags().Var(&f.hold, "hold", "how long a CDP client waits for a browser where there is none; 0: not at all")
	cmd.Flags().Var(&f.allowOrigins, "allow-origin", "let in what pages of this `origin` ask, for example https://tool.example (repeatable)")
}

// guardedEndpoint is a window's endpoint whose clients do what the window's human
// allows, who is told of them.
type guardedEndpoint struct {
	*endpoint.Endpoint
	launcher *launcher // nil: nothing is launched
	rule     *access.Rule
	source   *registry.Source
	cancel   context.CancelFunc
	told     chan struct{} // closed when announce has returned
}

// serveEndpoint has the endpoint of a workspace served. ctx bounds the wait for
// that only. With own, a browser is launched when a client wants one.
func (p *program) serveEndpoint(ctx context.Context, workspace string, source *registry.Source, guard guardFlags, own *ownBrowser) (*guardedEndpoint, error) {
	g := &guardedEndpoint{source: source, told: make(chan struct{})}
	var human access.Human = source
	var browsers cdpproxy.Source = source
	var wanted func() <-chan struct{}
	var why func() string
	if own != nil {
		g.launcher = newLauncher(source, own, p.logger)
		human, browsers, wanted, why = g.launcher, g.launcher, g.launcher.wanted, g.launcher.why
	}
	g.rule = access.NewRule(human, &access.RuleOptions{AllowClose: guard.allowClose, Activity: g.report})
	var err error
	g.Endpoint, err = endpoint.Serve(ctx, vscodeipc.Hash(workspace), browsers, &endpoint.Options{
		Proxy: cdpproxy.Options{
			NoBrowserHelp: fmt.Sprintf("Start the debug session of the window on %s (F5 in VS Code), or run `coordinator window --workspace %s`.", workspace, shellWord(workspace)),
			NoBrowserWhy:  why,
			RequireToken:  guard.requireToken,
			AllowOrigins:  guard.allowOrigins,
			HoldTimeout:   guard.hold.timeout(),
			Rule:          g.rule,
			Watcher:       g.rule,
			Wanted:        wanted,
		},
		Logger: p.logger,
	})
	if err != nil {
		g.rule.Close()
		if g.launcher != nil {
			g.launcher.close()
		}
		return nil, err
	}
	ctx, g.cancel = context.WithCancel(context.Background())
	go g.announce(ctx)
	return g, nil
}

func (g *guardedEndpoint) close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	g.Endpoint.Close(ctx)
	g.rule.Close()
	if g.launcher != nil {
		g.launcher.close()
	}
	g.cancel()
	<-g.told
}

// announceEvery bounds how often the window is told who is connected: of a crowd
// that comes at once each would otherwise cost a list of all.
const announceEvery = 50 * time.Millisecond

// announce tells the window who is connected, whenever that changes.
func (g *guardedEndpoint) announce(ctx context.Context) {
	defer close(g.told)
	for {
		clients, changed := g.rule.Clients()
		clients = clients[:min(len(clients), registry.MaxAnnounced)]
		connected := make([]vscodeipc.ConnectedClient, 0, len(clients))
		for _, c := range clients {
			connected = append(connected, vscodeipc.ConnectedClient{
				ID: c.ID, Name: c.Name, Version: c.Version, Kind: "cdp", Since: c.Since.UnixMilli(),
			})
		}
		g.source.Announce("cdp", connected)
		rest := time.NewTimer(announceEvery)
		for range 2 {
			select {
			case <-changed:
				changed = nil
			case <-rest.C:
			case <-ctx.Done():
				rest.Stop()
				return
			}
		}
	}
}

func (g *guardedEndpoint) report(e access.Entry) {
	g.source.ReportOf(func() (vscodeipc.Activity, bool) {
		c := e.Command()
		return vscodeipc.Activity{
			Client: e.Client.ID, Time: time.Now().UnixMilli(), Act: c.Method, Target: c.Target, Outcome: e.Outcome, OK: e.OK,
		}, c.Class != access.Reads
	})
}
