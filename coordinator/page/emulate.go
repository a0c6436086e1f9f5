package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"

	"browser-coordinator/coordinator/cdp"
)

// Emulation is what the page is made to believe; a field that is left empty
// stays as it is. It holds for as long as this connection lives.
type Emulation struct {
	Reset     bool   // ends all that was emulated before; the rest then begins anew
	Network   string // offline, slow 3g, fast 3g, slow 4g, fast 4g or none
	CPU       float64
	UserAgent string
	Locale    string // as in Accept-Language, for example de-DE
	Timezone  string // for example Europe/Berlin
	Media     string // print or screen
	// Features are CSS media features by name, for example
	// prefers-color-scheme: dark; "no-override" ends one.
	Features map[string]string
	Location *Location
	Viewport *Viewport
}

// Location is a place on earth.
type Location struct{ Latitude, Longitude, Accuracy float64 }

// Viewport is a size of the page, in CSS pixels.
type Viewport struct {
	Width, Height int
	Scale         float64 // device pixels per CSS pixel; 0: the browser's
	Mobile        bool    // a phone: viewport meta tag, touch
}

// networks are DevTools' presets, as it applies them: latency in ms, throughput
// in bytes per second.
var networks = map[string]map[string]any{
	"none":    {"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
	"offline": {"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
	"slow 3g": {"offline": false, "latency": 2000, "downloadThroughput": 50_000, "uploadThroughput": 50_000},
	"fast 3g": {"offline": false, "latency": 562.5, "downloadThroughput": 180_000, "uploadThroughput": 84_375},
	"slow 4g": {"offline": false, "latency": 562.5, "downloadThroughput": 180_000, "uploadThroughput": 84_375},
	"fast 4g": {"offline": false, "latency": 165, "downloadThroughput": 1_012_500, "uploadThroughput": 168_750},
}

// override is a command that holds for the life of its session.
type override struct {
	method string
	params any
	main   bool // for the page's own session only; else for those of its frames too
}

// Emulate changes what the page believes of its surroundings.
func (p *Page) Emulate(ctx context.Context, e Emulation) (Change, error) {
	set, err := e.overrides(p)
	if err != nil {
		return Change{}, err
	}
	if len(set) == 0 && e.Viewport == nil && e.Location == nil && !e.Reset {
		return Change{}, errors.New("nothing to emulate was given")
	}
	return p.act(ctx, "emulating", p.browser.opts.CallTimeout, func(ctx context.Context) error {
		if err := p.knowsTimezone(ctx, e.Timezone); err != nil {
			return err
		}
		// Without it a page in the background hears of a place or size only later.
		if err := p.emulateFocus(ctx); err != nil {
			return err
		}
		if e.Reset {
			if err := p.endEmulation(ctx); err != nil {
				return err
			}
		}
		if e.Location != nil {
			if err := p.allowLocation(ctx); err != nil {
				return err
			}
		}
		if e.Viewport != nil {
			l, err := p.frames.Layout(ctx)
			if err != nil {
				return err
			}
			set = append(set, e.Viewport.overrides(l.Zoom)...)
		}
		for _, o := range set {
			if err := p.apply(ctx, o); err != nil {
				return err
			}
			p.mu.Lock()
			p.overrides[o.method] = o
			p.mu.Unlock()
		}
		return nil
	})
}

// knowsTimezone is an error where the browser does not know a time zone; empty is
// none. Its own command refuses only the first one.
func (p *Page) knowsTimezone(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	known := false
	err := p.frames.Run(ctx, p.frames.Main(), extra("timezone"), name, &known)
	if err == nil && !known {
		err = fmt.Errorf("there is no time zone %q: want for example Europe/Berlin", name)
	}
	return err
}

// Resize makes the viewport that many CSS pixels large, for as long as this
// connection lives; the browser's window stays as it is.
func (p *Page) Resize(ctx context.Context, width, height int) (Change, error) {
	return p.Emulate(ctx, Emulation{Viewport: &Viewport{Width: width, Height: height}})
}

// maxViewport is the longest side of a viewport, in CSS pixels: the browser takes
// larger ones, and draws them no more.
const maxViewport = 10_000

// overrides are the commands for what is asked for. Media and its features are
// one command, so those that are on already are repeated.
func (e *Emulation) overrides(p *Page) ([]override, error) {
	var set []override
	if e.Network != "" {
		conditions, ok := networks[strings.ToLower(e.Network)]
		if !ok {
			return nil, fmt.Errorf("network %q: want one of %s", e.Network, strings.Join(slices.Sorted(maps.Keys(networks)), ", "))
		}
		set = append(set, override{method: emulateNetwork, params: conditions})
	}
	if e.CPU != 0 {
		if e.CPU < 1 {
			return nil, fmt.Errorf("cpu %g: want 1 (as it is) or more, how many times slower", e.CPU)
		}
		set = append(set, override{method: emulation.CommandSetCPUThrottlingRate, params: emulation.SetCPUThrottlingRateParams{Rate: e.CPU}})
	}
	if e.UserAgent != "" || e.Locale != "" {
		params := emulation.SetUserAgentOverrideParams{UserAgent: e.UserAgent, AcceptLanguage: e.Locale}
		if before, ok := p.overridden(emulation.CommandSetUserAgentOverride).(emulation.SetUserAgentOverrideParams); ok && !e.Reset {
			setDefault(&params.UserAgent, before.UserAgent)
			setDefault(&params.AcceptLanguage, before.AcceptLanguage)
		}
		set = append(set, override{method: emulation.CommandSetUserAgentOverride, params: params})
	}
	if e.Locale != "" {
		set = append(set, override{method: emulation.CommandSetLocaleOverride, params: emulation.SetLocaleOverrideParams{Locale: strings.ReplaceAll(e.Locale, "-", "_")}})
	}
	if e.Timezone != "" {
		set = append(set, override{method: emulation.CommandSetTimezoneOverride, params: emulation.SetTimezoneOverrideParams{TimezoneID: e.Timezone}})
	}
	if e.Media != "" || len(e.Features) > 0 {
		params := emulatedMedia{Media: e.Media, Features: maps.Clone(e.Features)}
		if before, ok := p.overridden(emulation.CommandSetEmulatedMedia).(emulatedMedia); ok && !e.Reset {
			setDefault(&params.Media, before.Media)
			merged := maps.Clone(before.Features)
			maps.Copy(merged, params.Features)
			params.Features = merged
		}
		set = append(set, override{method: emulation.CommandSetEmulatedMedia, params: params})
	}
	if l := e.Location; l != nil {
		if l.Latitude < -90 || l.Latitude > 90 || l.Longitude < -180 || l.Longitude > 180 {
			return nil, fmt.Errorf("there is no place at %g, %g: want latitude, longitude", l.Latitude, l.Longitude)
		}
		set = append(set, override{method: emulation.CommandSetGeolocationOverride, params: map[string]float64{
			"latitude": l.Latitude, "longitude": l.Longitude, "accuracy": max(l.Accuracy, 1),
		}})
	}
	if v := e.Viewport; v != nil {
		if min(v.Width, v.Height) < 1 || max(v.Width, v.Height) > maxViewport {
			return nil, fmt.Errorf("a viewport of %d by %d is not possible: want 1 to %d pixels a side", v.Width, v.Height, maxViewport)
		}
	}
	return set, nil
}

// overrides are the commands for it, for a site of that zoom: what they are given
// is made larger by it.
func (v *Viewport) overrides(zoom float64) []override {
	return []override{
		{emulation.CommandSetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(math.Round(float64(v.Width) * zoom)), Height: int64(math.Round(float64(v.Height) * zoom)),
			DeviceScaleFactor: v.Scale / zoom, Mobile: v.Mobile,
		}, true},
		{emulation.CommandSetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: v.Mobile}, true},
	}
}

// presize gives a page that is attached to the size of Options.Viewport, without
// waiting for the reply.
func (p *Page) presize(ctx context.Context, v *Viewport) error {
	for _, o := range v.overrides(1) {
		if _, err := p.session.Start(ctx, o.method, o.params); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) overridden(method string) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.overrides[method].params
}

// emulatedMedia keeps what Emulation.setEmulatedMedia was last given.
type emulatedMedia struct {
	Media    string
	Features map[string]string
}

func (m emulatedMedia) command() emulation.SetEmulatedMediaParams {
	params := emulation.SetEmulatedMediaParams{Media: m.Media}
	for _, name := range slices.Sorted(maps.Keys(m.Features)) {
		value := m.Features[name]
		if value == "no-override" {
			value = ""
		}
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	return params
}

// apply sends an override to the page, and to its frames in other processes.
func (p *Page) apply(ctx context.Context, o override) error {
	params := p.paramsOf(o)
	if err := p.session.Call(ctx, o.method, params, nil); err != nil {
		return err
	}
	if o.main {
		return nil
	}
	for _, s := range p.frames.Sessions()[1:] {
		// A frame that has gone needs none.
		_, _ = s.Start(ctx, o.method, params)
	}
	return nil
}

// paramsOf are an override's parameters as its command takes them.
func (p *Page) paramsOf(o override) any {
	if m, ok := o.params.(emulatedMedia); ok {
		return m.command()
	}
	if o.method == emulateNetwork {
		return p.browser.router.conditions(o.params)
	}
	return o.params
}

// reapply gives the overrides to a frame that another process renders from now
// on. It is called by the event loop and waits for no reply.
func (p *Page) reapply(ctx context.Context, s *cdp.Session) {
	p.mu.Lock()
	set := slices.Collect(maps.Values(p.overrides))
	p.mu.Unlock()
	for _, o := range set {
		if !o.main {
			_, _ = s.Start(ctx, o.method, p.paramsOf(o))
		}
	}
}

// endEmulation undoes what is overridden.
func (p *Page) endEmulation(ctx context.Context) error {
	undo := map[string]override{
		emulateNetwork:                            {params: networks["none"]},
		emulation.CommandSetCPUThrottlingRate:     {params: emulation.SetCPUThrottlingRateParams{Rate: 1}},
		emulation.CommandSetUserAgentOverride:     {params: map[string]string{"userAgent": ""}},
		emulation.CommandSetLocaleOverride:        {params: map[string]string{"locale": ""}},
		emulation.CommandSetTimezoneOverride:      {params: map[string]string{"timezoneId": ""}},
		emulation.CommandSetEmulatedMedia:         {params: map[string]any{"media": "", "features": []any{}}},
		emulation.CommandSetGeolocationOverride:   {method: emulation.CommandClearGeolocationOverride},
		emulation.CommandSetDeviceMetricsOverride: {method: emulation.CommandClearDeviceMetricsOverride, main: true},
		emulation.CommandSetTouchEmulationEnabled: {params: emulation.SetTouchEmulationEnabledParams{}, main: true},
	}
	p.mu.Lock()
	set := p.overrides
	p.overrides = map[string]override{}
	origins := p.located
	p.located = nil
	p.mu.Unlock()
	if v := p.browser.opts.Viewport; v != nil { // the size that its pages begin with
		l, err := p.frames.Layout(ctx)
		if err != nil {
			return err
		}
		for _, o := range v.overrides(l.Zoom) {
			undo[o.method] = o
		}
	}
	for method := range set {
		o := undo[method]
		setDefault(&o.method, method)
		if err := p.apply(ctx, o); err != nil {
			return err
		}
	}
	for _, origin := range origins {
		if err := p.setLocationPermission(ctx, origin, browser.PermissionSettingPrompt); err != nil {
			return err
		}
	}
	return nil
}

// allowLocation lets the page's origin ask where it is, without asking the user.
func (p *Page) allowLocation(ctx context.Context) error {
	u, err := url.Parse(p.URL())
	if err != nil || u.Host == "" {
		return errors.New("geolocation: open the page first, since the permission is given to its origin")
	}
	origin := u.Scheme + "://" + u.Host
	p.mu.Lock()
	known := slices.Contains(p.located, origin)
	p.mu.Unlock()
	if known {
		return nil
	}
	if err := p.setLocationPermission(ctx, origin, browser.PermissionSettingGranted); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.located = append(p.located, origin)
	return nil
}

func (p *Page) setLocationPermission(ctx context.Context, origin string, setting browser.PermissionSetting) error {
	return p.browser.conn.Call(ctx, browser.CommandSetPermission, map[string]any{
		"permission": map[string]string{"name": "geolocation"}, "setting": setting, "origin": origin,
	}, nil)
}
