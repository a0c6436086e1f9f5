package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/policy"
)

const requireTokenHelp = "admit CDP clients only with the secret token, also those of the same user"

// endpointFlags are the flags of the commands that serve an endpoint.
type endpointFlags struct {
	requireToken, allowClose bool
	hold                     hold
	allowOrigins             []string
}

func (f *endpointFlags) add(cmd *cobra.Command) {
	f.hold = hold(cdpproxy.DefaultHold)
	cmd.Flags().BoolVar(&f.requireToken, "require-token", false, requireTokenHelp)
	switchesOn(cmd, "require-token", &f.requireToken)
	cmd.Flags().BoolVar(&f.allowClose, "allow-close", false,
		"allow CDP clients that may change something to close the browser (Browser.close) for everyone")
	cmd.Flags().Var(&f.hold, "hold", "let a CDP client wait up to `DURATION` for a browser; 0 does not wait")
	cmd.Flags().Func("allow-origin", "admit requests from web pages of `ORIGIN`, for example https://tool.example "+
		"(repeatable)", func(origin string) error {
		f.allowOrigins = append(f.allowOrigins, origin)
		return checkOrigin(origin)
	})
}

// options converts the flags. With onDemand, a browser is launched when a client needs
// one.
func (f *endpointFlags) options(p *program, onDemand *launch.OnDemand, access policy.Mode) serving.Options {
	return serving.Options{
		Program:      p.command,
		RequireToken: f.requireToken,
		AllowClose:   f.allowClose,
		AllowOrigins: f.allowOrigins,
		HoldTimeout:  f.hold.timeout(),
		OnDemand:     onDemand,
		Access:       access,
		Claims:       claim.NewPages(p.logger),
		Logger:       p.logger,
	}
}

// useless names the given flags that have no effect while another coordinator serves the
// endpoint; empty means none. A token that one coordinator requires, all require.
func useless(cmd *cobra.Command) string {
	var names []string
	for _, name := range []string{"launch", "hold", "allow-origin", "allow-close"} {
		if isTyped(cmd, name) {
			names = append(names, "--"+name)
		}
	}
	if names == nil {
		return ""
	}
	return " Until then these flags have no effect: " + strings.Join(names, ", ") + "."
}

// reportStandby notifies the user that another coordinator serves the endpoint, if some
// of the given flags therefore have no effect. Without such flags it is the usual case:
// a program runs on the browser of an open window.
func (p *program) reportStandby(cmd *cobra.Command, mayLaunch bool) {
	none := useless(cmd)
	switch {
	case none == "":
	case mayLaunch:
		p.notice("Another coordinator already serves the window's address. The program uses the browser of that one, "+
			"which may end with it.%s\n", none)
	default:
		p.notice("Another coordinator already serves the window's address. This one takes over when that one "+
			"ends.%s\n", none)
	}
}

// launchFlags configure the browser that is launched when a client needs one.
type launchFlags struct {
	launch  bool
	browser browserFlags
}

const launchHelp = "start a browser when a client needs one: by the window's launch configuration, or else a private " +
	"one"

func (f *launchFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.launch, "launch", false, launchHelp)
	f.browser.add(cmd, false)
}

// onDemand is the browser to launch, or to open elsewhere; nil: none.
func (f *launchFlags) onDemand(p *program, cmd *cobra.Command) (*launch.OnDemand, error) {
	onDemand, err := f.browser.onDemand(cmd, "", p.logger)
	switch {
	case err != nil || onDemand.Kind() != launch.Launched:
		return onDemand, err
	case !f.launch && slices.ContainsFunc(f.browser.locals, func(name string) bool { return isTyped(cmd, name) }):
		return nil, wrongUse("the flags of a browser need --launch: add it, or omit them")
	case !f.launch:
		return nil, nil
	}
	if err := p.limits.launches("omit --launch, and open a window"); err != nil {
		return nil, err
	}
	if _, err := f.browser.find(); err != nil {
		if f.browser.browser != "" || f.browser.executable != "" {
			return nil, err
		}
		// The window's launch configuration may name its own browser.
		p.logger.Warn("no browser was found, so only a window's launch configuration can start one", "error", err)
	}
	return onDemand, nil
}

// hold is the value of --hold: how long a client waits for a browser.
type hold time.Duration

func (h *hold) String() string { return time.Duration(*h).String() }
func (h *hold) Type() string   { return "DURATION" }

func (h *hold) Set(text string) error {
	d, err := time.ParseDuration(text)
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && notNumber == nil:
		return fmt.Errorf("want a duration with its unit, for example %ss", strings.TrimLeft(text, "+-"))
	case err != nil:
		return errors.New("want a duration, for example 5s or 2m")
	case d < 0:
		return errors.New("want a duration of 0 or more")
	}
	*h = hold(d)
	return nil
}

// timeout is the value for cdpproxy.
func (h hold) timeout() time.Duration {
	if h == 0 {
		return cdpproxy.NoHold
	}
	return time.Duration(h)
}

// checkOrigin accepts an origin in the form that browsers send, RFC 6454 section 6.1. It
// rejects "null", which every sandboxed page has.
func checkOrigin(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || text != strings.ToLower(u.Scheme+"://"+u.Host) {
		return errors.New("want an origin in lower case, scheme://host or scheme://host:port, without a path")
	}
	return nil
}
