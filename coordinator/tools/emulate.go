package tools

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
)

type emulateIn struct {
	Network       string  `json:"network,omitempty" about:"offline, slow 3g, fast 3g, slow 4g, fast 4g or none"`
	CPU           float64 `json:"cpu,omitempty" about:"times slower"`
	Geolocation   string  `json:"geolocation,omitempty" about:"52.5,13.4"`
	UserAgent     string  `json:"userAgent,omitempty"`
	Locale        string  `json:"locale,omitempty"`
	Timezone      string  `json:"timezone,omitempty"`
	Viewport      string  `json:"viewport,omitempty" about:"390x844, with scale 390x844x3, with touch 390x844,mobile"`
	Media         string  `json:"media,omitempty" oneof:"print screen"`
	ColorScheme   string  `json:"colorScheme,omitempty" about:"dark, light or no-override" oneof:"light dark no-preference no-override"`
	ReducedMotion string  `json:"reducedMotion,omitempty" about:"reduce" oneof:"reduce no-preference no-override"`
	Contrast      string  `json:"contrast,omitempty" about:"more" oneof:"more less custom no-preference no-override"`
	ForcedColors  string  `json:"forcedColors,omitempty" about:"active" oneof:"active none no-override"`
	Reset         bool    `json:"reset,omitempty" about:"first end all overrides"`
	inPage
}

var _ = define(Tool{
	Name: "browser_emulate", Title: "Emulate", Description: "Emulate a size, device, network or place",
	Difference: "theirs, browser_emulate_media, is a part of it, by the same parameters",
	Effect:     Adjusts,
	Replaces: map[string]string{
		"browser_resize": "with viewport WIDTHxHEIGHT", "browser_emulate_media": "by the same parameters",
	},
	Notes: "It lasts until `reset` or the session's end. `network` has the presets of DevTools. With " +
		"`geolocation` (latitude, longitude) the origin gets the permission.",
	Example: `{"viewport": "390x844,mobile", "colorScheme": "dark"}`,
}, calls[emulateIn]{
	Beyond: func(_ context.Context, _ *page.Page, in emulateIn) bool { // the tab keeps it on other sites
		return in.Network != "" || in.UserAgent != "" || in.Geolocation != ""
	},
	Do: emulate,
	Code: func(in emulateIn, d *agent.Record) export.Step {
		if size, err := parseViewport(in.Viewport); err == nil {
			return code(javascript.Format("$.setViewportSize({ width: $, height: $ })", d.Page, size.Width, size.Height))
		}
		return export.Step{Comment: "browser_emulate is not part of the test."}
	},
})

func emulate(ctx context.Context, c *agent.Call, in emulateIn) error {
	e := emulation.Settings{
		Reset: in.Reset, Network: in.Network, CPU: in.CPU,
		UserAgent: in.UserAgent, Locale: in.Locale, Timezone: in.Timezone, Media: in.Media,
		Features: map[string]string{},
	}
	for feature, value := range map[string]string{
		"prefers-color-scheme": in.ColorScheme, "prefers-reduced-motion": in.ReducedMotion,
		"prefers-contrast": in.Contrast, "forced-colors": in.ForcedColors,
	} {
		if value != "" {
			e.Features[feature] = value
		}
	}
	if in.Geolocation != "" {
		e.Location = &emulation.Location{}
		if n, err := fmt.Sscanf(strings.ReplaceAll(in.Geolocation, " ", ""), "%g,%g", &e.Location.Latitude,
			&e.Location.Longitude); n != 2 || err != nil {
			return fmt.Errorf("geolocation %q: want latitude,longitude, for example 52.5,13.4", in.Geolocation)
		}
	}
	if in.Viewport != "" {
		var err error
		if e.Viewport, err = parseViewport(in.Viewport); err != nil {
			return err
		}
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	sentence := "Done; it lasts until reset, or until you leave."
	if in.Reset {
		sentence = "Reset."
	}
	return c.AnswerAction(sentence)(p.Emulate(ctx, e))
}

// parseViewport reads WIDTHxHEIGHT or WIDTHxHEIGHTxSCALE, with an optional ",mobile" at
// the end.
func parseViewport(text string) (*emulation.Viewport, error) {
	v := &emulation.Viewport{}
	size, kind, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), ",")
	n, err := fmt.Sscanf(size, "%dx%dx%g", &v.Width, &v.Height, &v.Scale)
	if n < 2 || n == 2 && strings.Count(size, "x") > 1 || n == 3 && err != nil || kind != "" && kind != "mobile" {
		return nil, fmt.Errorf("viewport %q: want for example 1280x720, 390x844x3 or 390x844x3,mobile", text)
	}
	v.Mobile = kind == "mobile"
	return v, nil
}
