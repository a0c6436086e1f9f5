// Package emulation overrides the environment of one page: network, processor, language,
// time zone, media, location and viewport.
package emulation

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
)

// Options of an Emulation.
type Options struct {
	Conn     *cdp.Conn    // of the browser
	ID       target.ID    // of the page
	Session  *cdp.Session // of the page itself
	Frames   *frame.Tree
	Screen   *capture.Screen
	Viewport *Viewport // initial viewport of the page; nil: the browser's
	// Network converts the network conditions that a page emulates into the conditions to
	// apply. Its argument is nil if the page emulates none.
	Network func(emulated any) any
	// Owner tells those who meet the page what it emulates; nil: there are no others.
	Owner *claim.Owner
}

// Emulation holds the overrides of one page.
type Emulation struct {
	opts Options

	mu        sync.Mutex          // guards the fields that follow
	overrides map[string]override // by method
	sized     sized
	located   []permission // to read the location, which were given
}

// ID is the page's CDP target id.
func (e *Emulation) ID() string { return string(e.opts.ID) }

// Session is the page's own session.
func (e *Emulation) Session() *cdp.Session { return e.opts.Session }

// New returns the emulation of a page, without overrides.
func New(opts Options) *Emulation {
	return &Emulation{opts: opts, overrides: map[string]override{}}
}

// override is a command whose effect lasts for the lifetime of its session.
type override struct {
	method string
	params any
	main   bool // only for the page's own session; else for those of its frames too
}

// Plan checks the settings and returns the func that applies them. They last until the
// connection ends.
func (e *Emulation) Plan(s Settings) (apply func(context.Context) error, err error) {
	set, err := e.overridesFor(&s)
	if err != nil {
		return nil, err
	}
	if len(set) == 0 && s.Viewport == nil && s.Location == nil && !s.Reset {
		return nil, errors.New("name what to emulate")
	}
	return func(ctx context.Context) error { return errors.Join(e.set(ctx, s, set), e.publish()) }, nil
}

func (e *Emulation) set(ctx context.Context, s Settings, set []override) error {
	if err := e.knowsTimezone(ctx, s.Timezone); err != nil {
		return err
	}
	// Otherwise a background page detects a new location or size only later.
	if err := e.opts.Screen.EmulateFocus(ctx); err != nil {
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
	for _, o := range set {
		if err := e.add(ctx, o); err != nil {
			return err
		}
	}
	if s.Viewport != nil {
		return e.resize(ctx, s.Viewport)
	}
	return nil
}

func (e *Emulation) add(ctx context.Context, o override) error {
	if err := e.apply(ctx, o); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.overrides[o.method] = o
	return nil
}

// timezoneFunction reports whether the browser knows a time zone.
//
//go:embed timezone.js
var timezoneFunction string

// knowsTimezone returns an error if the browser does not know a time zone; an empty name
// means none. The browser's own command reports only the first unknown one.
func (e *Emulation) knowsTimezone(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	known := false
	err := e.opts.Frames.Run(ctx, e.opts.Frames.Main(), timezoneFunction, name, &known)
	if err == nil && !known {
		err = fmt.Errorf("there is no time zone %q: want for example Europe/Berlin", name)
	}
	return err
}

// SendViewport applies Options.Viewport to a page after its attachment. It does not
// wait for the response.
func (e *Emulation) SendViewport(ctx context.Context) error {
	if e.opts.Viewport == nil {
		return nil
	}
	for _, o := range e.opts.Viewport.overrides(1) {
		if _, err := e.opts.Session.Start(ctx, o.method, o.params); err != nil {
			return err
		}
	}
	e.setSize(e.opts.Viewport)
	return nil
}

// Network returns the page's network override as parameters of NetworkMethod; nil:
// none.
func (e *Emulation) Network() any { return e.overridden(NetworkMethod) }

func (e *Emulation) overridden(method string) any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overrides[method].params
}

// apply sends an override to the page, and to its frames in other processes.
func (e *Emulation) apply(ctx context.Context, o override) error {
	params := e.paramsOf(o)
	if err := e.opts.Session.Call(ctx, o.method, params, nil); err != nil {
		return err
	}
	if o.main {
		return nil
	}
	for _, s := range e.opts.Frames.Sessions()[1:] {
		// A frame that has gone needs no command.
		_, _ = s.Start(ctx, o.method, params)
	}
	return nil
}

// paramsOf returns an override's parameters in the form of its command.
func (e *Emulation) paramsOf(o override) any {
	if o.method == NetworkMethod {
		return e.opts.Network(o.params)
	}
	return o.params
}

// Reapply applies the overrides to a frame that has moved to another process. The event
// loop calls it, so it waits for no response.
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

// reset removes the overrides: each of them, also if another one fails, which the next reset removes.
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
	if v := e.opts.Viewport; v != nil { // the initial size of its pages
		layout, err := e.opts.Frames.Layout(ctx)
		if err != nil {
			return err
		}
		for _, o := range v.overrides(layout.Zoom) {
			undo[o.method] = o
		}
	}
	e.mu.Lock()
	set := e.overrides
	e.overrides = map[string]override{}
	located := e.located
	e.located = nil
	e.mu.Unlock()
	var failed error
	for method, override := range set {
		o := undo[method]
		o.method = cmp.Or(o.method, method)
		if err := e.apply(ctx, o); err != nil {
			failed = errors.Join(failed, err)
			e.mu.Lock()
			e.overrides[method] = override
			e.mu.Unlock()
		}
	}
	if failed == nil {
		e.setSize(e.opts.Viewport)
	}
	for _, permission := range located {
		failed = errors.Join(failed, e.returnLocation(ctx, permission))
	}
	return failed
}

// emulated names what each command overrides.
var emulated = map[string]string{
	NetworkMethod:                             "the network",
	emulation.CommandSetCPUThrottlingRate:     "a slower processor",
	emulation.CommandSetUserAgentOverride:     "the user agent",
	emulation.CommandSetLocaleOverride:        "the language",
	emulation.CommandSetTimezoneOverride:      "the time zone",
	emulation.CommandSetEmulatedMedia:         "media features",
	emulation.CommandSetGeolocationOverride:   "the location",
	emulation.CommandSetDeviceMetricsOverride: "the size",
}

// publish tells those who meet the page what it emulates.
func (e *Emulation) publish() error {
	e.mu.Lock()
	var names []string
	for method := range e.overrides {
		if name := emulated[method]; name != "" {
			names = append(names, name)
		}
	}
	e.mu.Unlock()
	text := ""
	if slices.Sort(names); len(names) > 0 {
		text = "emulates in this tab: " + strings.Join(names, ", ") + " (browser_emulate)"
	}
	return e.opts.Owner.Set(e.ID(), "emulation", text)
}
