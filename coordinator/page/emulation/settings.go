package emulation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/emulation"
)

// Settings are the values to override. An empty field leaves its setting unchanged.
type Settings struct {
	Reset     bool   // removes all earlier overrides before the rest is applied
	Network   string // offline, slow 3g, fast 3g, slow 4g, fast 4g or none
	CPU       float64
	UserAgent string
	Locale    string // as in Accept-Language, for example de-DE
	Timezone  string // for example Europe/Berlin
	Media     string // print or screen
	// Features are CSS media features by name, for example
	// prefers-color-scheme: dark; "no-override" removes one.
	Features map[string]string
	Location *Location
	Viewport *Viewport
}

// Location is a place on earth.
type Location struct{ Latitude, Longitude float64 }

// Viewport is a size of the page, in CSS pixels.
type Viewport struct {
	Width, Height int
	Scale         float64 // device pixels per CSS pixel; 0: the browser's
	Mobile        bool    // a phone: viewport meta tag, touch
}

// NetworkMethod is the command that overrides the network.
const NetworkMethod = "Network.emulateNetworkConditions"

// Unlimited and Offline are parameters of NetworkMethod: no override, and no network.
func Unlimited() any { return networks["none"] }
func Offline() any   { return networks["offline"] }

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

// maxViewport is the longest side of a viewport, in CSS pixels: the browser accepts
// larger ones, but does not draw them.
const maxViewport = 10_000

// overridesFor returns the commands for the settings. One command sets media and all
// features, so it repeats those that are on already.
func (e *Emulation) overridesFor(s *Settings) ([]override, error) {
	var set []override
	if s.Network != "" {
		conditions, ok := networks[strings.ToLower(s.Network)]
		if !ok {
			return nil, fmt.Errorf("network %q: want one of %s", s.Network,
				strings.Join(slices.Sorted(maps.Keys(networks)), ", "))
		}
		set = append(set, override{method: NetworkMethod, params: conditions})
	}
	if s.CPU != 0 {
		if s.CPU < 1 {
			return nil, fmt.Errorf("cpu %g: want 1 (as it is) or more, how many times slower", s.CPU)
		}
		set = append(set, override{
			method: emulation.CommandSetCPUThrottlingRate, params: emulation.SetCPUThrottlingRateParams{Rate: s.CPU},
		})
	}
	if s.UserAgent != "" || s.Locale != "" {
		params := emulation.SetUserAgentOverrideParams{UserAgent: s.UserAgent, AcceptLanguage: s.Locale}
		if before, ok := e.overridden(emulation.CommandSetUserAgentOverride).(emulation.SetUserAgentOverrideParams); ok &&
			!s.Reset {
			params.UserAgent = cmp.Or(params.UserAgent, before.UserAgent)
			params.AcceptLanguage = cmp.Or(params.AcceptLanguage, before.AcceptLanguage)
		}
		set = append(set, override{method: emulation.CommandSetUserAgentOverride, params: params})
	}
	if s.Locale != "" {
		set = append(set, override{
			method: emulation.CommandSetLocaleOverride,
			params: emulation.SetLocaleOverrideParams{Locale: strings.ReplaceAll(s.Locale, "-", "_")},
		})
	}
	if s.Timezone != "" {
		set = append(set, override{
			method: emulation.CommandSetTimezoneOverride,
			params: emulation.SetTimezoneOverrideParams{TimezoneID: s.Timezone},
		})
	}
	if s.Media != "" || len(s.Features) > 0 {
		params := emulation.SetEmulatedMediaParams{Media: s.Media}
		features := map[string]string{}
		if before, ok := e.overridden(emulation.CommandSetEmulatedMedia).(emulation.SetEmulatedMediaParams); ok &&
			!s.Reset {
			params.Media = cmp.Or(params.Media, before.Media)
			for _, f := range before.Features {
				features[f.Name] = f.Value
			}
		}
		maps.Copy(features, s.Features)
		for _, name := range slices.Sorted(maps.Keys(features)) {
			value := features[name]
			if value == "no-override" {
				value = ""
			}
			params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
		}
		set = append(set, override{method: emulation.CommandSetEmulatedMedia, params: params})
	}
	if l := s.Location; l != nil {
		if l.Latitude < -90 || l.Latitude > 90 || l.Longitude < -180 || l.Longitude > 180 {
			return nil, fmt.Errorf("there is no place at %g, %g: want latitude, longitude", l.Latitude, l.Longitude)
		}
		set = append(set, override{method: emulation.CommandSetGeolocationOverride, params: map[string]float64{
			"latitude": l.Latitude, "longitude": l.Longitude, "accuracy": 1,
		}})
	}
	if v := s.Viewport; v != nil {
		if min(v.Width, v.Height) < 1 || max(v.Width, v.Height) > maxViewport {
			return nil, fmt.Errorf("a viewport of %d by %d is not possible: want 1 to %d pixels a "+
				"side", v.Width, v.Height, maxViewport)
		}
	}
	return set, nil
}

// overrides returns the commands for the viewport, for a site with that zoom.
// Width and height include the zoom; the scale factor excludes it.
func (v *Viewport) overrides(zoom float64) []override {
	return []override{
		{emulation.CommandSetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(math.Round(float64(v.Width) * zoom)), Height: int64(math.Round(float64(v.Height) * zoom)),
			DeviceScaleFactor: v.Scale / zoom, Mobile: v.Mobile,
		}, true},
		{emulation.CommandSetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: v.Mobile}, true},
	}
}
