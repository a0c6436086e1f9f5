// Package emulation overrides what one page believes of its surroundings: network,
// processor, language, time zone, media, place and size.
package emulation

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"

	"browser-coordinator/coordinator/cdp"
)

// Page is what this package needs of a page.
type Page interface {
	URL() string
	Session() *cdp.Session
	// FrameSessions are those of the page's frames in other processes.
	FrameSessions() []*cdp.Session
	// EmulateFocus makes the page believe that it is focused and visible.
	EmulateFocus(ctx context.Context) error
	// Zoom is the user's own for the site of the page.
	Zoom(ctx context.Context) (float64, error)
	// CallFunction calls a function in our world of the main document, with one
	// argument, and decodes the JSON text that it returns.
	CallFunction(ctx context.Context, function string, argument, result any) error
}

// Options of an Emulation.
type Options struct {
	Conn     *cdp.Conn // of the browser
	Viewport *Viewport // that the page begins with; nil: the browser's
	// Network turns what a page emulates of the network into the conditions that hold
	// for it; the emulated ones are nil where there are none.
	Network func(emulated any) any
}

// Emulation is what is overridden of one page.
type Emulation struct {
	page Page
	opts Options

	mu        sync.Mutex          // guards the fields that follow
	overrides map[string]override // by method
	located   []string            // origins that may ask for the location
}

// New returns the emulation of a page, of which nothing is overridden.
func New(page Page, opts Options) *Emulation {
	return &Emulation{page: page, opts: opts, overrides: map[string]override{}}
}

// override is a command that holds for the life of its session.
type override struct {
	method string
	params any
	main   bool // for the page's own session only; else for those of its frames too
}

// Plan checks the settings and returns the func that applies them. They hold for as
// long as the connection lives.
func (e *Emulation) Plan(s Settings) (apply func(context.Context) error, err error) {
	set, err := e.overridesFor(&s)
	if err != nil {
		return nil, err
	}
	if len(set) == 0 && s.Viewport == nil && s.Location == nil && !s.Reset {
		return nil, errors.New("nothing to emulate was given")
	}
	return func(ctx context.Context) error { return e.set(ctx, s, set) }, nil
}

func (e *Emulation) set(ctx context.Context, s Settings, set []override) error {
	if err := e.knowsTimezone(ctx, s.Timezone); err != nil {
		return err
	}
	// Without it a page in the background learns of a place or size only later.
	if err := e.page.EmulateFocus(ctx); err != nil {
		return err
	}
	if s.Reset {
		if err := e.reset(ctx); err != nil {
			return err
		}
	}
	if s.Location != nil {
		if err := e.allowLocation(ctx); err != nil {
			return err
		}
	}
	if s.Viewport != nil {
		zoom, err := e.page.Zoom(ctx)
		if err != nil {
			return err
		}
		set = append(set, s.Viewport.overrides(zoom)...)
	}
	for _, o := range set {
		if err := e.apply(ctx, o); err != nil {
			return err
		}
		e.mu.Lock()
		e.overrides[o.method] = o
		e.mu.Unlock()
	}
	return nil
}

// timezoneFunction reports whether the browser knows a time zone.
//
//go:embed timezone.js
var timezoneFunction string

// knowsTimezone returns an error where the browser does not know a time zone; empty is
// none. Its own command refuses only the first one.
func (e *Emulation) knowsTimezone(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	known := false
	err := e.page.CallFunction(ctx, timezoneFunction, name, &known)
	if err == nil && !known {
		err = fmt.Errorf("there is no time zone %q: want for example Europe/Berlin", name)
	}
	return err
}

// SendViewport gives a page that was just attached to the size of Options.Viewport,
// without waiting for the response.
func (e *Emulation) SendViewport(ctx context.Context) error {
	if e.opts.Viewport == nil {
		return nil
	}
	for _, o := range e.opts.Viewport.overrides(1) {
		if _, err := e.page.Session().Start(ctx, o.method, o.params); err != nil {
			return err
		}
	}
	return nil
}

// Network is what is emulated of the network, as the parameters of NetworkMethod; nil:
// nothing.
func (e *Emulation) Network() any { return e.overridden(NetworkMethod) }

func (e *Emulation) overridden(method string) any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overrides[method].params
}

// apply sends an override to the page, and to its frames in other processes.
func (e *Emulation) apply(ctx context.Context, o override) error {
	params := e.paramsOf(o)
	if err := e.page.Session().Call(ctx, o.method, params, nil); err != nil {
		return err
	}
	if o.main {
		return nil
	}
	for _, s := range e.page.FrameSessions() {
		// A frame that has gone needs none.
		_, _ = s.Start(ctx, o.method, params)
	}
	return nil
}

// paramsOf are an override's parameters as its command takes them.
func (e *Emulation) paramsOf(o override) any {
	if m, ok := o.params.(emulatedMedia); ok {
		return m.command()
	}
	if o.method == NetworkMethod {
		return e.opts.Network(o.params)
	}
	return o.params
}

// Reapply gives the overrides to a frame that another process renders from now
// on. It is called by the event loop and waits for no reply.
func (e *Emulation) Reapply(ctx context.Context, s *cdp.Session) {
	e.mu.Lock()
	set := slices.Collect(maps.Values(e.overrides))
	e.mu.Unlock()
	for _, o := range set {
		if !o.main {
			_, _ = s.Start(ctx, o.method, e.paramsOf(o))
		}
	}
}

// reset ends what is overridden.
func (e *Emulation) reset(ctx context.Context) error {
	undo := map[string]override{
		NetworkMethod:                             {params: Unlimited()},
		emulation.CommandSetCPUThrottlingRate:     {params: emulation.SetCPUThrottlingRateParams{Rate: 1}},
		emulation.CommandSetUserAgentOverride:     {params: map[string]string{"userAgent": ""}},
		emulation.CommandSetLocaleOverride:        {params: map[string]string{"locale": ""}},
		emulation.CommandSetTimezoneOverride:      {params: map[string]string{"timezoneId": ""}},
		emulation.CommandSetEmulatedMedia:         {params: map[string]any{"media": "", "features": []any{}}},
		emulation.CommandSetGeolocationOverride:   {method: emulation.CommandClearGeolocationOverride},
		emulation.CommandSetDeviceMetricsOverride: {method: emulation.CommandClearDeviceMetricsOverride, main: true},
		emulation.CommandSetTouchEmulationEnabled: {params: emulation.SetTouchEmulationEnabledParams{}, main: true},
	}
	e.mu.Lock()
	set := e.overrides
	e.overrides = map[string]override{}
	origins := e.located
	e.located = nil
	e.mu.Unlock()
	if v := e.opts.Viewport; v != nil { // the size that its pages begin with
		zoom, err := e.page.Zoom(ctx)
		if err != nil {
			return err
		}
		for _, o := range v.overrides(zoom) {
			undo[o.method] = o
		}
	}
	for method := range set {
		o := undo[method]
		o.method = cmp.Or(o.method, method)
		if err := e.apply(ctx, o); err != nil {
			return err
		}
	}
	for _, origin := range origins {
		if err := e.setLocationPermission(ctx, origin, browser.PermissionSettingPrompt); err != nil {
			return err
		}
	}
	return nil
}

// allowLocation lets the page's origin ask where it is, without asking the user.
func (e *Emulation) allowLocation(ctx context.Context) error {
	u, err := url.Parse(e.page.URL())
	if err != nil || u.Host == "" {
		return errors.New("geolocation: open the page first, since the permission is given to its origin")
	}
	origin := u.Scheme + "://" + u.Host
	e.mu.Lock()
	known := slices.Contains(e.located, origin)
	e.mu.Unlock()
	if known {
		return nil
	}
	if err := e.setLocationPermission(ctx, origin, browser.PermissionSettingGranted); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.located = append(e.located, origin)
	return nil
}

func (e *Emulation) setLocationPermission(ctx context.Context, origin string, setting browser.PermissionSetting) error {
	return e.opts.Conn.Call(ctx, browser.CommandSetPermission, map[string]any{
		"permission": map[string]string{"name": "geolocation"}, "setting": setting, "origin": origin,
	}, nil)
}
