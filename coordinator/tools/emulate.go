package tools

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/page/emulation"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type emulateIn struct {
	Network       string  `json:"network,omitempty" jsonschema:"offline, slow 3g, fast 3g, slow 4g, fast 4g, none"`
	CPU           float64 `json:"cpu,omitempty" jsonschema:"times slower"`
	Geolocation   string  `json:"geolocation,omitempty" jsonschema:"52.5,13.4"`
	UserAgent     string  `json:"userAgent,omitempty"`
	Locale        string  `json:"locale,omitempty"`
	Timezone      string  `json:"timezone,omitempty"`
	Viewport      string  `json:"viewport,omitempty" jsonschema:"390x844, with scale 390x844x3, or 390x844x3,mobile"`
	Media         string  `json:"media,omitempty" jsonschema:"print or screen"`
	ColorScheme   string  `json:"colorScheme,omitempty" jsonschema:"dark, light; no-override ends this and the next"`
	ReducedMotion string  `json:"reducedMotion,omitempty" jsonschema:"reduce"`
	Contrast      string  `json:"contrast,omitempty" jsonschema:"more"`
	ForcedColors  string  `json:"forcedColors,omitempty" jsonschema:"active"`
	Reset         bool    `json:"reset,omitempty" jsonschema:"end all that was set before"`
	inWindow
}

func (s *Server) addEmulateTools() {
	add(s, &mcp.Tool{Name: "browser_emulate", Description: "Emulate a device, network or place", Annotations: adjusts("Emulate")}, emulate)
}

func emulate(ctx context.Context, a *agent, in emulateIn) (*answer, error) {
	e := emulation.Settings{
		Reset: in.Reset, Network: in.Network, CPU: in.CPU,
		UserAgent: in.UserAgent, Locale: in.Locale, Timezone: in.Timezone,
		Features: map[string]string{},
	}
	if err := oneOf("media", in.Media, "", "print", "screen"); err != nil {
		return nil, err
	}
	e.Media = in.Media
	for _, f := range []struct {
		name, feature, value string
		values               []string
	}{
		{"colorScheme", "prefers-color-scheme", in.ColorScheme, []string{"light", "dark", "no-preference"}},
		{"reducedMotion", "prefers-reduced-motion", in.ReducedMotion, []string{"reduce", "no-preference"}},
		{"contrast", "prefers-contrast", in.Contrast, []string{"more", "less", "custom", "no-preference"}},
		{"forcedColors", "forced-colors", in.ForcedColors, []string{"active", "none"}},
	} {
		if f.value == "" {
			continue
		}
		if err := oneOf(f.name, f.value, append(f.values, "no-override")...); err != nil {
			return nil, err
		}
		e.Features[f.feature] = f.value
	}
	if in.Geolocation != "" {
		e.Location = &emulation.Location{}
		if n, err := fmt.Sscanf(strings.ReplaceAll(in.Geolocation, " ", ""), "%g,%g", &e.Location.Latitude, &e.Location.Longitude); n != 2 || err != nil {
			return nil, fmt.Errorf("geolocation %q: want latitude,longitude, for example 52.5,13.4", in.Geolocation)
		}
	}
	if in.Viewport != "" {
		var err error
		if e.Viewport, err = parseViewport(in.Viewport); err != nil {
			return nil, err
		}
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := "Done; it lasts until reset, or until you leave."
	if in.Reset {
		did = "Reset."
	}
	return a.did(did)(p.Emulate(ctx, e))
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
