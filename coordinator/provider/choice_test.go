package provider

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/must"
)

func TestChoice(t *testing.T) {
	file := func(text string, mode os.FileMode) string {
		name := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(name, []byte(text), mode))
		return name
	}
	headers := file("X-Api-Key: secret-key\n\n# more\nAuthorization: Bearer secret-token\n", 0o600)
	for name, c := range map[string]struct {
		choice  Choice
		env     map[string]string
		want    string // the provider; empty: none
		refused string // part of the error
	}{
		"nothing": {Choice{}, nil, "", ""},
		"grid": {Choice{Grid: "http://grid.test:4444"}, nil,
			"Selenium Grid http://grid.test:4444", ""},
		"grid of the variable": {Choice{}, map[string]string{EnvGrid: "https://ada:secret@grid.test/wd/hub"},
			"Selenium Grid https://grid.test", ""},
		"a flag beats the variable": {Choice{Attach: "wss://cdp.test"},
			map[string]string{EnvGrid: "http://grid.test"}, "the browser at wss://cdp.test", ""},
		"a local browser beats it": {Choice{Local: true}, map[string]string{EnvGrid: "http://grid.test"}, "", ""},
		"which takes no headers":   {Choice{Local: true}, map[string]string{EnvHeaders: "not a header"}, "", ""},
		"attach with headers": {Choice{Attach: "wss://cdp.test/x", Headers: headers}, nil,
			"the browser at wss://cdp.test", ""},
		"both variables": {Choice{}, map[string]string{EnvGrid: "http://grid.test",
			EnvAttach: "ws://cdp.test"}, "", "exclude each other"},
		"not an address": {Choice{Grid: "grid.test:4444"}, nil, "",
			`--grid "grid.test:4444": want an address with http://, https://`},
		"a grid has no WebSocket": {Choice{Grid: "ws://grid.test"}, nil, "", "want an address"},
		"not shown": {Choice{}, map[string]string{EnvAttach: "ftp://ada:secret@x"}, "",
			"$" + EnvAttach + ": want an address"},
		"a password in the open": {Choice{Grid: "http://ada:secret@grid.test"}, nil, "",
			"must not be on the command line"},
		"a token in the open": {Choice{Attach: "wss://cdp.test?token=secret"}, nil, "", "Set $" + EnvAttach},
		"headers alone":       {Choice{Headers: headers}, nil, "", "--headers needs --grid or --attach"},
		"capabilities alone":  {Choice{Capabilities: headers}, nil, "", "--grid-capability needs --grid"},
		"no headers": {Choice{Grid: "http://grid.test", Headers: file("secret-token", 0o600)}, nil,
			"", "line 1 is not of the form"},
		"no headers in the variable": {Choice{Grid: "http://grid.test"},
			map[string]string{EnvHeaders: "secret-token"}, "", "$" + EnvHeaders + ": line 1"},
		"no capabilities": {Choice{Grid: "http://grid.test", Capabilities: file("[]", 0o600)}, nil, "",
			"want a JSON object"},
		"no file": {Choice{Grid: "http://grid.test", Capabilities: "/nowhere"}, nil, "", "/nowhere"},
		"others may read the file": {Choice{Grid: "http://grid.test", Headers: file("A: b", 0o644)}, nil, "",
			"chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.refused == "chmod 600" && runtime.GOOS == "windows" {
				t.Skip("Windows has no modes")
			}
			for _, variable := range []string{EnvGrid, EnvAttach, EnvHeaders} {
				t.Setenv(variable, c.env[variable])
			}
			source, err := c.choice.Source(slog.New(slog.DiscardHandler))
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) ||
					strings.Contains(err.Error(), "secret-") || strings.Contains(err.Error(), ":secret") &&
					c.env != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || provided(source) != c.want {
				t.Errorf("%q, %v; want %q", provided(source), err, c.want)
			}
		})
	}
}

func provided(s launch.Source) string {
	if s == nil {
		return ""
	}
	return s.Provider()
}

// The grid may know itself by another address than its users.
func TestReachable(t *testing.T) {
	for _, c := range []struct{ given, reported, want string }{
		{"http://grid.test:4444", "ws://10.0.0.7:4444/session/1/se/cdp", "ws://grid.test:4444/session/1/se/cdp"},
		{"https://grid.test", "ws://10.0.0.7:4444/session/1/se/cdp", "wss://grid.test/session/1/se/cdp"},
		{"https://grid.test/wd/hub/", "ws://10.0.0.7:4444/session/1/se/cdp", "wss://grid.test/session/1/se/cdp"},
		{"https://grid.test/team", "ws://10.0.0.7:4444/session/1/se/cdp", "wss://grid.test/team/session/1/se/cdp"},
		{"https://grid.test/team", "ws://10.0.0.7:4444/team/session/1/se/cdp", "wss://grid.test/team/session/1/se/cdp"},
	} {
		a := must.Get(Parse(c.given, true, nil, "http", "https"))(t)
		if got, err := newWebdriver(a).reachable(c.reported); err != nil || got != c.want {
			t.Errorf("%s at %s: %s, %v; want %s", c.reported, c.given, got, err, c.want)
		}
	}
}

// No part of a secret remains in a text of the provider, in any of its forms.
func TestRedact(t *testing.T) {
	a := must.Get(Parse("https://ada:pass%2Fword@grid.test/?apiKey=key%20one", false,
		map[string][]string{"Authorization": {"Bearer token-1"}}, "https"))(t)
	text := a.redact("pass/word pass%2Fword key one key+one token-1 YWRhOnBhc3Mvd29yZA==")
	if got := strings.ReplaceAll(text, " ", ""); got != strings.Repeat("…", 6) {
		t.Errorf("%q", text)
	}
	if strings.ContainsAny(a.Place(), "@?") {
		t.Error(a.Place())
	}
}
