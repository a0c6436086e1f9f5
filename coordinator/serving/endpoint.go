package serving

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Options configure how addresses are served.
type Options struct {
	Program      string // the command that serves, for the status
	RequireToken bool   // also from clients of the same user
	AllowClose   bool   // let clients close the browser
	AllowOrigins []string
	HoldTimeout  time.Duration // as in cdpproxy.Options
	// OnDemand is launched when a client needs a browser and the window starts none; nil:
	// nothing is launched.
	OnDemand *launch.OnDemand
	// Access is what clients may do in the browser of OnDemand.
	Access policy.Mode
	// Claims tell the agents what clients hold up in the browser; nil: no agent is told.
	Claims *claim.Pages
	Logger *slog.Logger
}

// Endpoint is a window's endpoint, which applies the policy of the window's user. The
// window is notified of the clients.
type Endpoint struct {
	*endpoint.Endpoint
	launcher  *launcher // nil: nothing is launched
	user      policy.User
	rule      *access.Rule
	source    *registry.Source
	program   string
	holds     holds
	cancel    context.CancelFunc
	announced chan struct{} // closed when announce has returned
}

// Serve serves the endpoint of a workspace. ctx bounds only the wait for that.
func Serve(ctx context.Context, workspace string, source *registry.Source, o *Options) (*Endpoint, error) {
	e := &Endpoint{source: source, user: source, program: o.Program, announced: make(chan struct{}),
		holds: holds{claims: o.Claims, log: o.Logger, owners: map[string]*claim.Owner{}}}
	var browsers cdpproxy.Source = source
	var demand func() <-chan struct{}
	why := func() string { return "" }
	if o.OnDemand != nil {
		e.launcher = newLauncher(source, o)
		e.user, browsers, demand, why = e.launcher, e.launcher, e.launcher.demand, e.launcher.failure
	}
	help := fmt.Sprintf("Start the debug session of the window on %s (F5 in VS Code), or run `coordinator window "+
		"--workspace %s`.", workspace, terminal.Word(workspace))
	if demand == nil && o.HoldTimeout != cdpproxy.NoHold {
		demand = waitNotice(fmt.Sprintf("a client waits up to %v for a browser. %s Or add --launch.",
			cmp.Or(o.HoldTimeout, cdpproxy.DefaultHold), help), o.Logger)
	}
	e.rule = access.NewRule(e.user, &access.RuleOptions{AllowClose: o.AllowClose, Activity: e.report})
	var err error
	e.Endpoint, err = endpoint.Serve(ctx, vscodeipc.Hash(workspace), browsers, cdpproxy.Options{
		NoBrowserHelp: func() string { return strings.TrimSpace(why() + " " + help) },
		RequireToken:  o.RequireToken,
		AllowOrigins:  o.AllowOrigins,
		HoldTimeout:   o.HoldTimeout,
		Rule:          e.rule,
		Demand:        demand,
		Details:       e.details,
		Logger:        o.Logger,
	})
	if err != nil {
		e.rule.Close()
		if e.launcher != nil {
			e.launcher.close()
		}
		return nil, err
	}
	if err := endpoint.Remember(vscodeipc.Hash(workspace), workspace); err != nil {
		o.Logger.Warn("`coordinator doctor --fix` will not find the files of "+workspace, "error", err)
	}
	ctx, e.cancel = context.WithCancel(context.Background())
	go e.announce(ctx)
	return e, nil
}

// noticeInterval bounds how often the user is notified of waiting clients.
const noticeInterval = 30 * time.Second

// waitNotice notifies the user of a client that waits for a browser. It is for
// cdpproxy.Options.Demand.
func waitNotice(text string, log *slog.Logger) func() <-chan struct{} {
	var mu sync.Mutex
	var last time.Time
	return func() <-chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > noticeInterval {
			last = time.Now()
			log.Warn(text)
		}
		return nil
	}
}

// Close ends the endpoint. It leaves a launched browser to the owner of the OnDemand.
func (e *Endpoint) Close() {
	e.Endpoint.Close()
	e.rule.Close()
	if e.launcher != nil {
		e.launcher.close()
	}
	e.cancel()
	<-e.announced
}

// announceInterval bounds how often the window gets the list of clients: if many connect
// at once, each would otherwise cost a whole list.
const announceInterval = 50 * time.Millisecond

// announce notifies the window of the connected clients, and whether this process serves
// the address, at every change.
func (e *Endpoint) announce(ctx context.Context) {
	defer close(e.announced)
	defer e.holds.publish(nil)
	for {
		owner := e.OwnerChanged()
		clients, changed := e.rule.Clients()
		connected := make([]vscodeipc.ConnectedClient, 0, len(clients))
		for _, c := range clients {
			connected = append(connected, vscodeipc.ConnectedClient{
				ID: c.ID, Name: c.Name, Version: c.Version, Kind: "cdp", Since: c.Since.UnixMilli(), Access: c.Access,
			})
		}
		e.source.Announce("cdp", connected)
		holds := e.rule.Holds()
		e.holds.publish(holds)
		for _, c := range clients {
			c.Holds.Store(new(heldBy(c, holds)))
		}
		e.source.AnnounceServing(e.Owner())
		pause := time.NewTimer(announceInterval)
		for range 2 {
			select {
			case <-changed:
				changed = nil
			case <-owner:
				owner = nil
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return
			}
		}
	}
}

// details adds to the endpoint's status what the proxy does not know.
func (e *Endpoint) details() cdpproxy.Details {
	settings, _ := e.user.Access()
	return cdpproxy.Details{Program: e.program, Access: string(settings.Mode)}
}

// report notifies the window of a client's command.
func (e *Endpoint) report(entry access.Entry) {
	e.source.Report(func() vscodeipc.Activity {
		a := vscodeipc.Activity{
			Client: entry.Client.ID, Time: time.Now().UnixMilli(),
			Act: entry.Method, Target: entry.Address, Outcome: entry.Outcome, OK: entry.OK,
		}
		text := registry.Describe(registry.Public(a, "cdp"))
		entry.Client.Last.Store(&cdpproxy.LastAction{Time: time.UnixMilli(a.Time), Text: text})
		return a
	})
}
